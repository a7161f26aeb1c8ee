package succinct

import (
	"math"
	"math/bits"

	"ndd/asm"
)

// A Bounded is an array of integers below a limit that takes little more than log2 of the limit for each, where a
// [Packed] takes that rounded up. It is read-only and safe for many goroutines.
type Bounded struct {
	Words []uint64 // at least WordsFor(n) of the code
	Code  Code
}

// A Code is how integers below a limit are written. Its zero value is of no use: see [CodeFor].
//
// With base 1 they are packed, as wide as the largest is. With another base b an integer is split
// into low bits and a digit below b; the digits of a block of t integers share a word, t being as
// many as fit one:
//
//	| low 0 | low 1 | ... | low t-1 | digits | low t | ...       no gaps
//	                                 64 bits
//
// The word is the digits as a fraction, 0.d0 d1 d2 ... in base b, in units of 2^-64, rounded up.
// Multiplied by b^j, without what overflows, it is 0.dj..., and dj is what overflows when it is
// multiplied by b once more. The rounding moves no digit: less than one unit is added to a multiple
// of b^-t, and b^t units are at most the whole.
//
// Limit 100 M: 25 low bits, base 3, 40 digits a word, 26.6 bits for 26.58; packed, 27.
type Code struct {
	width  uint   // low bits
	base   uint64 // of digits; 1: there are none
	block  uint64 // integers in a block, t
	inner  uint64 // low bits of a block
	bits   uint64 // of a block
	byT    uint64 // 2^64/t rounded up: a division by t is a multiplication
	whole  uint64 // base^t
	powers [64]uint64
}

const (
	baseBits  = 12 // of the largest base, of whose digits five fit a word: fewer bases than this are tried
	baseMost  = 1 << baseBits
	leastGain = 1.0 / 8 // bits, for less of which there are no digits
	leastLong = 1 << 16 // integers, for fewer of which there are none
)

// CodeFor returns a code for an array of n integers below n, as the documents of a segment are: the one that takes
// the least bits, unless packing takes hardly more.
func CodeFor(limit uint64) Code {
	packed := float64(WidthFor(max(limit, 1) - 1))
	best, _ := NewCode(limit, 1)
	least := packed - leastGain
	for low := int(packed) - 1; limit >= leastLong && low > 0 && low > int(packed)-baseBits; low-- {
		c, ok := NewCode(limit, (limit-1)>>low+1)
		if size := float64(c.bits) / float64(c.block); ok && size <= least {
			best, least = c, math.Nextafter(size, 0)
		}
	}
	return best
}

// NewCode returns the code of a base for integers below limit. ok is false where there is none.
func NewCode(limit, base uint64) (c Code, ok bool) {
	if limit = max(limit, 1); base == 0 || base > baseMost {
		return c, false
	}
	c = Code{width: uint(WidthFor((limit - 1) / base)), base: base, block: 1, whole: 1}
	if c.bits = uint64(c.width); base == 1 {
		return c, true
	}
	for c.block = 0; ; c.block++ {
		over, next := bits.Mul64(c.whole, base)
		if over > 0 {
			break
		}
		c.powers[c.block] = c.whole
		c.whole = next
	}
	c.inner = c.block * uint64(c.width)
	c.bits = c.inner + 64
	c.byT = math.MaxUint64/c.block + 1
	return c, c.width > 0
}

// Base returns the base of the digits, 1 where there are none.
func (c *Code) Base() uint64 { return c.base }

// WordsFor returns how many words n integers take, 1<<60 where no slice can hold them.
func (c *Code) WordsFor(n uint64) uint64 { return WordsFor((n+c.block-1)/c.block, int(c.bits)) }

// Bit returns where integer i begins, in bits.
func (c *Code) Bit(i uint64) uint64 {
	low, _, _ := c.place(i)
	return low
}

// place returns where integer i has its low bits and its block the digits, and the number of its digit.
func (c *Code) place(i uint64) (low, digits, digit uint64) {
	if c.base == 1 {
		low = i * c.bits
		return low, low, 0
	}
	block, _ := bits.Mul64(i, c.byT)
	digit = i - block*c.block
	begin := block * c.bits
	return begin + digit*uint64(c.width), begin + c.inner, digit
}

// At returns integer i. Of words that no [BoundedWriter] wrote it may be any number.
func (x *Bounded) At(i uint64) uint64 {
	c := &x.Code
	if c.base == 1 {
		return Packed{x.Words, int(c.width)}.At(i)
	}
	low, digits, digit := c.place(i)
	fraction := x.field(digits, 64) * c.powers[digit&63]
	d, _ := bits.Mul64(fraction, c.base)
	return d<<c.width | x.field(low, uint64(c.width))
}

// field returns the width bits, 1 to 64, from bit at on.
func (x *Bounded) field(at, width uint64) uint64 {
	w, b := at/64, at%64
	v := x.Words[w]>>b | x.Words[w+(b+width-1)/64]<<1<<(63-b)
	return v & (^uint64(0) >> (64 - width))
}

// Prefetch requests the cache lines that At reads for each of positions, which it overwrites.
func (x *Bounded) Prefetch(positions []uint64) {
	const together = 64
	var digits [together]uint64
	for len(positions) > 0 {
		low := positions[:min(together, len(positions))]
		for i, p := range low {
			low[i], digits[i], _ = x.Code.place(p)
			low[i], digits[i] = low[i]/64, digits[i]/64
		}
		if asm.PrefetchAt(x.Words, low); x.Code.base > 1 {
			asm.PrefetchAt(x.Words, digits[:len(low)])
		}
		positions = positions[len(low):]
	}
}

// A BoundedWriter makes the words of a [Bounded], in order. It belongs to one goroutine.
type BoundedWriter struct {
	Words []uint64 // that are complete: the caller may take them away at any time

	code   Code
	held   uint64 // the low used bits: what does not fill a word yet
	used   uint
	digits uint64 // of the block so far, as a number
	filled uint64 // integers of the block so far
}

// NewBoundedWriter returns a writer of integers in a code.
func NewBoundedWriter(c Code) *BoundedWriter { return &BoundedWriter{code: c} }

// AppendBounded appends integers, which must be below the limit of the code.
func AppendBounded[T uint32 | uint64](w *BoundedWriter, integers []T) {
	c := &w.code
	if c.width == 0 {
		return
	}
	for c.base > 1 && len(integers) > 0 {
		n := min(len(integers), int(c.block-w.filled))
		digits, width := w.digits, c.width&63
		for _, v := range integers[:n] {
			digits = digits*c.base + uint64(v)>>width
		}
		appendLow(w, integers[:n])
		w.digits = digits
		if w.filled += uint64(n); w.filled == c.block {
			w.endBlock()
		}
		integers = integers[n:]
	}
	appendLow(w, integers)
}

// appendLow appends the low bits of integers.
func appendLow[T uint32 | uint64](w *BoundedWriter, integers []T) {
	held, used, width, words := w.held, w.used, w.code.width, w.Words
	mask := ^uint64(0) >> (64 - width)
	for _, v := range integers {
		low := uint64(v) & mask
		held |= low << (used & 63)
		if used += width; used >= 64 {
			words = append(words, held)
			used -= 64
			held = low >> (width - used) // 0 when nothing is left: Go shifts by 64 to 0
		}
	}
	w.held, w.used, w.Words = held, used, words
}

// endBlock appends the digits of a block that is full.
func (w *BoundedWriter) endBlock() {
	fraction, _ := bits.Div64(w.digits, w.code.whole-1, w.code.whole)
	w.Words = append(w.Words, w.held|fraction<<w.used)
	w.held = fraction >> 1 >> (63 - w.used)
	w.digits, w.filled = 0, 0
}

// Finish completes the words, and the last block by zeros.
func (w *BoundedWriter) Finish() {
	for w.code.base > 1 && w.filled > 0 {
		AppendBounded(w, []uint64{0})
	}
	if w.used > 0 {
		w.Words = append(w.Words, w.held)
		w.held, w.used = 0, 0
	}
}
