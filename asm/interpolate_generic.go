package asm

// A bracket is the state of one search: keys[low] < target <= keys[high]. Both keys are stored in it.
type bracket struct {
	low, high       int
	lowKey, highKey uint64
	lowMoved        bool // the last step moved low, not high
}

// interpolateGeneric is the specification. len(dst) == len(targets) <= searchWidth, len(keys) > 0.
// It returns the number of steps.
func interpolateGeneric(dst []int, keys, targets []uint64) (steps int) {
	var (
		open     [searchWidth]bracket
		searches [searchWidth]uint8 // indexes of the open searches
	)
	// Answer the searches outside the keys, and open the others.
	n := 0
	last := len(keys) - 1
	for j, x := range targets {
		switch {
		case x <= keys[0]:
			dst[j] = 0
		case x > keys[last]:
			dst[j] = len(keys)
		default:
			open[j] = bracket{high: last, lowKey: keys[0], highKey: keys[last]}
			searches[n] = uint8(j)
			n++
		}
	}
	// Take steps until all searches are closed.
	var guesses [searchWidth]int
	stride := searchStride
	step := 0
	for ; n > 0; step++ {
		line := followsLine(step)
		if step >= searchLines && !line {
			stride = min(stride, len(keys)) * searchGrowth
		}
		// Remove the closed searches, and compute the next guess of the others.
		pending := searches[:0]
		for _, j := range searches[:n] {
			b := &open[j%searchWidth]
			if b.high-b.low == 1 {
				dst[j] = b.high
				continue
			}
			if line {
				guesses[j%searchWidth] = b.onLine(targets[j])
			} else {
				guesses[j%searchWidth] = b.near(stride / searchGrowth)
			}
			pending = append(pending, j)
		}
		n = len(pending)
		// Read all guesses, one independent miss each. (Moving the ends without branches was measured: not faster for
		// uniform keys, a fifth slower for clustered ones.)
		for _, j := range pending {
			b, g := &open[j%searchWidth], guesses[j%searchWidth]
			if key := keys[g]; key < targets[j] {
				b.low, b.lowKey, b.lowMoved = g, key, true
			} else {
				b.high, b.highKey, b.lowMoved = g, key, false
			}
		}
	}
	return step
}

// onLine returns where the line from (low, lowKey) to (high, highKey) passes x, inside the open bracket. The
// differences are halved to fit a signed conversion, and rounded to 53 bits. This may move a guess, but does not
// change an answer.
func (b *bracket) onLine(x uint64) int {
	share := float64(int64((x-b.lowKey)>>1)) / float64(int64((b.highKey-b.lowKey)>>1)|1)
	guess := b.low + int(share*float64(b.high-b.low))
	return min(max(guess, b.low+1), b.high-1)
}

// near returns the position at stride keys from the end that moved last, or the middle if that is nearer.
func (b *bracket) near(stride int) int {
	half := (b.high - b.low) / 2
	if b.lowMoved {
		return b.low + min(stride, half)
	}
	return b.high - min(stride, half)
}
