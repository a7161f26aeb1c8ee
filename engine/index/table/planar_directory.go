package table

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"ndd/asm"
	"ndd/engine/index/succinct"
)

// A planarDirectory is the sections "lines" and "wide" as they are made. Lines may
// be set in any order and at the same time.
type planarDirectory struct {
	head  *planarHead
	lines []uint64
	wide  succinct.Packed // when finished

	mu    sync.Mutex
	among []wideLine
}

// wideLine is a line that cannot say where its buckets begin.
type wideLine struct {
	line   uint64
	starts []uint64 // of its buckets, less the rank of the first
}

// buckets returns how many buckets a line has: the last may have fewer than others.
func (h *planarHead) buckets(line uint64) uint64 {
	return min(h.perLine, 1<<h.bucketBits-line*h.perLine)
}

// set makes a line whose first key has rank base and whose n ones and zeros are the bits
// of unary from bit at on. start is where a bucket of the line begins; it is called, in order,
// for those of a wide line alone.
func (d *planarDirectory) set(line, base uint64, unary []uint64, at, n uint64, start func(j uint64) uint64) {
	words := d.lines[lineWords*line:][:lineWords]
	words[0] = base
	if n <= asm.PlanarLineBits {
		copyBits(words[1:], unary, at, n)
		return
	}
	words[0] |= asm.PlanarWide
	w := wideLine{line, make([]uint64, d.head.perLine)}
	for j := range w.starts {
		w.starts[j] = start(min(uint64(j), d.head.buckets(line))) - base
	}
	d.mu.Lock()
	d.among = append(d.among, w)
	d.mu.Unlock()
}

// copyBits sets the first n bits of dst, which are zeros, to those of src from bit at on.
func copyBits(dst, src []uint64, at, n uint64) {
	for i := range dst {
		done := 64 * uint64(i)
		if done >= n {
			return
		}
		from := at + done
		v := src[from/64] >> (from % 64)
		if from%64 > 0 && from/64+1 < uint64(len(src)) {
			v |= src[from/64+1] << (64 - from%64)
		}
		if left := n - done; left < 64 {
			v &= 1<<left - 1
		}
		dst[i] = v
	}
}

// finish numbers the wide lines, packs their offsets and completes the head.
func (d *planarDirectory) finish() {
	slices.SortFunc(d.among, func(a, b wideLine) int { return cmp.Compare(a.line, b.line) })
	widest := uint64(0)
	for i, w := range d.among {
		d.lines[lineWords*w.line+1] = uint64(i)
		widest = max(widest, w.starts[len(w.starts)-1])
	}
	d.head.wideLines = uint64(len(d.among))
	d.head.wideBits = uint(succinct.WidthFor(widest))
	d.wide = succinct.NewPacked(d.head.wideStarts(), int(d.head.wideBits))
	for i, w := range d.among {
		for j, start := range w.starts {
			d.wide.Set(uint64(i)*d.head.perLine+uint64(j), start)
		}
	}
	d.lines[len(d.lines)-lineWords] = d.head.keys // the base behind the last line
}

// A zeroCursor finds the zeros of unary words, one after the other: zero number n, from 1, ends
// bucket n-1.
type zeroCursor struct {
	words  []uint64
	word   int    // where the search goes on
	before uint64 // zeros in the words before that
}

// start returns the rank of the first key that lies behind n zeros. n must not be less than
// before.
func (c *zeroCursor) start(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	for {
		inverse := ^c.words[c.word]
		inWord := uint64(bits.OnesCount64(inverse))
		if n <= c.before+inWord {
			at := 64*uint64(c.word) + uint64(asm.SelectBit(inverse, int(n-c.before-1)))
			return at + 1 - n // its place, less the zeros before it
		}
		c.before += inWord
		c.word++
	}
}
