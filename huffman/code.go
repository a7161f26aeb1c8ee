package huffman

import (
	"errors"
	"fmt"
	"math/bits"

	"ndd/asm"
)

// Positions is the number of symbols: h is 0..63.
const Positions = 64

// lengthMax is the longest code in bits: what one look-up of the decoder sees.
const lengthMax = asm.WindowBits

// ErrCode is what errors.Is finds in the error for lengths that make no code.
var ErrCode = errors.New("not a code")

// Code is a canonical Huffman code, limited to 12 bits, over the positions h. It is always
// complete: every sequence of bits is the beginning of some sequence of codes. Immutable, about 33
// KiB.
//
// A position that never occurred has no code. That is no trap: a key whose position has none ends
// its half of a block (AppendBlock), and the step from one half to the other is not written.
type Code struct {
	lengths [Positions]uint8  // 0: no code
	words   [Positions]uint16 // the code, first bit lowest
	costs   [Positions]uint32 // bits of a step, code and raw bits; without a code, more than a half has
	window  asm.Window
}

// NewCode builds the code that writes positions with these counts in the fewest bits. The counts
// are those of the keys to be packed (Count). Fewer than two positions with a count still make a
// code: a neighbour position completes it. The sum of the counts must be below 2^59.
func NewCode(counts *[Positions]uint64) *Code {
	c := *counts
	used := 0
	for _, n := range c {
		if n > 0 {
			used++
		}
	}
	for h := 0; used < 2; h++ {
		if c[h] == 0 {
			c[h] = 1
			used++
		}
	}
	lengths := limitedLengths(&c)
	code, err := NewCodeFromLengths(&lengths)
	if err != nil {
		panic(fmt.Sprintf("huffman: lengths of counts %v: %v", c, err))
	}
	return code
}

// NewCodeFromLengths rebuilds the code whose Lengths these are. They may come from a file: lengths
// above 12, or whose Kraft sum is not exactly 1, are an error that wraps ErrCode.
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

// Lengths returns the length of every position's code, 0 for none. These 64 numbers are the whole
// code: write them to a file, and NewCodeFromLengths makes the code again.
func (c *Code) Lengths() [Positions]uint8 { return c.lengths }

// assign gives out the canonical codes: by length, then by position, each one more than the one before.
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

// Window returns the code made ready for decoding, for [asm.Seek].
func (c *Code) Window() *asm.Window { return &c.window }

// Count adds, for every key after the first, one to the count of its position: that of the most
// significant bit in which it differs from the key before it. keys must be strictly ascending;
// equal neighbours panic. Counts of parts may be added up; where a part ends, let the next begin
// with the last key of the one before.
func Count(counts *[Positions]uint64, keys []uint64) {
	for i := 1; i < len(keys); i++ {
		counts[63-bits.LeadingZeros64(keys[i]^keys[i-1])]++
	}
}
