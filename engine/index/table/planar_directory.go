package table

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/succinct"
)

// A planarDirectory has the sections "lines" and "wide" during a build. Lines may be set in any order and
// concurrently.
type planarDirectory struct {
	head  *planarHead
	lines []uint64
	wide  succinct.Array // complete after finish

	mu        sync.Mutex
	wideLines []wideLine
}

// A wideLine is a line without space for its buckets. Their starts are in the section "wide".
type wideLine struct {
	line   uint64
	starts []uint64 // starts of its buckets, minus the rank of the first key
}

// buckets returns the number of buckets of a line. The last line may have fewer than the others.
func (h *planarHead) buckets(line uint64) uint64 {
	return min(h.perLine, 1<<h.bucketBits-line*h.perLine)
}

// set builds a line. Its first key has rank base, and its n ones and zeros are the bits of unary from offset bit on.
// start returns the start of a bucket. set calls it, in order, only for wide lines.
func (d *planarDirectory) set(line, base uint64, unary []uint64, bit, n uint64, start func(j uint64) uint64) {
	words := d.lines[lineWords*line:][:lineWords]
	words[0] = base
	if n <= asm.PlanarLineBits {
		copyBits(words[1:], unary, bit, n)
		return
	}
	words[0] |= asm.PlanarWide
	w := wideLine{line, make([]uint64, d.head.perLine)}
	for j := range w.starts {
		w.starts[j] = start(min(uint64(j), d.head.buckets(line))) - base
	}
	d.mu.Lock()
	d.wideLines = append(d.wideLines, w)
	d.mu.Unlock()
}

// copyBits copies n bits of src, from bit offset on, to the beginning of dst, which must be zero.
func copyBits(dst, src []uint64, offset, n uint64) {
	for i := range dst {
		done := 64 * uint64(i)
		if done >= n {
			return
		}
		position := offset + done
		v := src[position/64] >> (position % 64)
		if position%64 > 0 && position/64+1 < uint64(len(src)) {
			v |= src[position/64+1] << (64 - position%64)
		}
		if remaining := n - done; remaining < 64 {
			v &= 1<<remaining - 1
		}
		dst[i] = v
	}
}

// finish numbers the wide lines, packs their offsets and completes the head.
func (d *planarDirectory) finish() {
	slices.SortFunc(d.wideLines, func(a, b wideLine) int { return cmp.Compare(a.line, b.line) })
	maximum := uint64(0)
	for i, w := range d.wideLines {
		d.lines[lineWords*w.line+1] = uint64(i)
		maximum = max(maximum, w.starts[len(w.starts)-1])
	}
	d.head.wideLines = uint64(len(d.wideLines))
	d.head.wideBits = uint(succinct.WidthFor(maximum))
	d.wide = succinct.NewArray(d.head.wideStarts(), int(d.head.wideBits))
	for i, w := range d.wideLines {
		for j, start := range w.starts {
			d.wide.Set(uint64(i)*d.head.perLine+uint64(j), start)
		}
	}
	d.lines[len(d.lines)-lineWords] = d.head.keys // the base of the sentinel line
}

// A zeroCursor finds the zeros of unary words, in order. Zero number n, from 1, ends bucket n-1.
type zeroCursor struct {
	words []uint64
	word  int    // word where the search continues
	zeros uint64 // zeros in earlier words
}

// start returns the rank of the first key after n zeros. n must not be less than zeros.
func (c *zeroCursor) start(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	for {
		inverse := ^c.words[c.word]
		inWord := uint64(bits.OnesCount64(inverse))
		if n <= c.zeros+inWord {
			bit := 64*uint64(c.word) + uint64(asm.SelectBit(inverse, int(n-c.zeros-1)))
			return bit + 1 - n // its position minus the zeros before it
		}
		c.zeros += inWord
		c.word++
	}
}
