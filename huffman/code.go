package huffman

import (
	"errors"
	"fmt"
	"math/bits"

	"example.org/ndd/asm"
)

// Positions is the number of symbols: h is 0..63.
const Positions = 64

// lengthMax is the maximum length of a code in bits: the number of bits that one look-up of the decoder reads.
const lengthMax = asm.WindowBits

// ErrCode is wrapped by the error for lengths that do not form a code.
var ErrCode = errors.New("not a code")

// A Code is a canonical Huffman code, limited to 12 bits, over the positions h. It is always complete: every sequence
// of bits is the beginning of a sequence of codes. It is immutable and takes about 33 KiB.
//
// A position that never occurred has no code. A half of a block ends before a key with such a position (AppendBlock),
// because the step from one half to the other is not written.
type Code struct {
	lengths [Positions]uint8  // length of the code; 0: no code
	words   [Positions]uint16 // the code, its first bit in the lowest bit
	costs   [Positions]uint32 // bits of a step: code and raw bits; without a code, more than a half has
	window  asm.Window
}

// NewCode builds the code that writes positions with these counts in the fewest bits. The counts are those of the
// keys to pack (Count). If fewer than two positions have a count, a neighbouring position completes the code. The sum
// of the counts must be below 2^59.
func NewCode(counts *[Positions]uint64) *Code {
	c := *counts
	count := 0
	for _, n := range c {
		if n > 0 {
			count++
		}
	}
	for h := 0; count < 2; h++ {
		if c[h] == 0 {
			c[h] = 1
			count++
		}
	}
	lengths := limitedLengths(&c)
	code, err := NewCodeFromLengths(&lengths)
	if err != nil {
		panic(fmt.Sprintf("huffman: lengths of counts %v: %v", c, err))
	}
	return code
}

// NewCodeFromLengths rebuilds a code from its Lengths. The lengths may come from a file. It returns an error that
// wraps ErrCode if a length is above 12 or the Kraft sum is not exactly 1.
func NewCodeFromLengths(lengths *[Positions]uint8) (*Code, error) {
	kraft := 0 // in units of 2^-lengthMax
	for h, length := range lengths {
		if length > lengthMax {
			return nil, fmt.Errorf("huffman: position %d, length %d, above %d: %w", h, length, lengthMax, ErrCode)
		}
		if length > 0 {
			kraft += 1 << (lengthMax - length)
		}
	}
	if kraft != 1<<lengthMax {
		return nil, fmt.Errorf("huffman: Kraft sum %d/%d: %w", kraft, 1<<lengthMax, ErrCode)
	}
	c := &Code{lengths: *lengths}
	c.assign()
	for h, length := range lengths {
		if c.costs[h] = uint32(int(length) + h); length == 0 {
			c.costs[h] = 8 * BlockBytesMax
		}
	}
	c.window.Fill(&c.words, &c.lengths)
	return c, nil
}

// Lengths returns the length of every position's code, 0 for none. These 64 numbers determine the code:
// NewCodeFromLengths rebuilds it.
func (c *Code) Lengths() [Positions]uint8 { return c.lengths }

// assign assigns the canonical codes in order of length and position. Each code is its predecessor plus one.
func (c *Code) assign() {
	word := 0
	for length := 1; length <= lengthMax; length++ {
		word <<= 1
		for h, l := range c.lengths {
			if int(l) == length {
				c.words[h] = bits.Reverse16(uint16(word)) >> (16 - length)
				word++
			}
		}
	}
}

// Window returns the decoding table for [asm.Seek].
func (c *Code) Window() *asm.Window { return &c.window }

// Count increments, for every key after the first, the count of its position: the most significant bit in which it
// differs from its predecessor. It panics if keys are not strictly ascending. Counts of parts may be added, if each
// part begins with the last key of the previous part.
func Count(counts *[Positions]uint64, keys []uint64) {
	for i := 1; i < len(keys); i++ {
		counts[63-bits.LeadingZeros64(keys[i]^keys[i-1])]++
	}
}
