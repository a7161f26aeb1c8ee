package mapreduce

import (
	"errors"
	"math/bits"
)

// A block is a sorted set of numbers as the text of a value: the differences of neighbours in
// digits of one width, which the block's first digit gives. The shuffle of the job pairs carries
// blocks only. A set of n random numbers of w bits has w - log2 n + 1.44 bits of entropy each; a
// block of some hundred has up to 6 bits more, in digits that take a third more bits than they
// hold. A shuffle that is compressed with DEFLATE takes that third away again.

var errBlock = errors.New("no block of fingerprints")

// appendBlock appends the block of a sorted set of numbers.
func appendBlock(dst []byte, sorted []uint64) []byte {
	most, before := uint64(0), uint64(0)
	for _, v := range sorted {
		most, before = max(most, v-before), v
	}
	width := max(1, (bits.Len64(most)+5)/6)
	dst, before = append(dst, digits[width]), 0
	for _, v := range sorted {
		dst, before = appendNumber(dst, v-before, width), v
	}
	return dst
}

// parseBlock appends the numbers of a block to dst. They ascend.
func parseBlock(dst []uint64, block []byte) ([]uint64, error) {
	if len(block) < 2 {
		return dst, errBlock
	}
	width := int(digitOf[block[0]])
	if block = block[1:]; width < 1 || width > printDigits || len(block)%width != 0 {
		return dst, errBlock
	}
	for v := uint64(0); len(block) > 0; block = block[width:] {
		difference, ok := number(block[:width])
		if !ok || v+difference < v {
			return dst, errBlock
		}
		v += difference
		dst = append(dst, v)
	}
	return dst, nil
}
