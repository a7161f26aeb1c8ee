package huffman

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ndd/asm"
)

// ErrCorrupt is what errors.Is finds in the error for a block that AppendBlock cannot have written.
var ErrCorrupt = errors.New("corrupt block")

// DecodeBlock unpacks a block between its fences: before, the key before its first, and last, its
// last key. It returns how many keys it holds: those are dst[1:n+1], strictly ascending, and dst[0]
// is before. dst must have room for them: MaxKeys(len(block)) + 1 is always enough. Beyond, dst is
// not written.
//
// Any bytes and fences may be given. What cannot be a block of this code is an error that wraps
// ErrCorrupt, and leaves anything in dst: a length that no block has, more keys than dst holds, codes
// or raw bits that run out of a half or into each other, keys that do not ascend. It never panics,
// and reads and writes nothing outside block and dst. Nothing is allocated but the error. That
// bytes changed which still make a block is for the caller's checksum to find.
func (c *Code) DecodeBlock(dst []uint64, block []byte, before, last uint64) (n int, err error) {
	if err := checkBlock(block); err != nil {
		return 0, err
	}
	ups, downs := Steps(block, Up), Steps(block, Down)
	if n = ups + 1 + downs; n >= len(dst) {
		return 0, fmt.Errorf("huffman: %d keys in a block of %d bytes, read into %d: %w", n, len(block), len(dst), ErrCorrupt)
	}
	up, down := dst[:ups+1], dst[ups+1:n+1]
	if err := c.DecodeHalf(up, block, Up, before); err != nil {
		return 0, err
	}
	if err := c.DecodeHalf(down, block, Down, last); err != nil {
		return 0, err
	}
	slices.Reverse(down)
	for i, flipped := range down {
		down[i] = ^flipped
	}
	if up[ups] >= down[0] {
		return 0, fmt.Errorf("huffman: block of %d bytes, whose halves overlap: %w", len(block), ErrCorrupt)
	}
	return n, nil
}

// A Side is one of a block's halves.
type Side int

// The sides.
const (
	Up   Side = iota // the keys behind the fence before the block, upwards
	Down             // the keys before the block's last, downwards
)

// Steps returns how many keys a block says that a half of it has, the fence not among them.
// DecodeHalf checks it.
func Steps(block []byte, side Side) int { return int(binary.LittleEndian.Uint16(side.half(block))) }

// Keys returns how many keys a block says it holds.
func Keys(block []byte) int { return Steps(block, Up) + 1 + Steps(block, Down) }

// half returns a side of a block; of an odd number of bytes, the second has one more.
func (s Side) half(block []byte) []byte {
	middle := len(block) / 2
	return block[middle*int(s) : middle+(len(block)-middle)*int(s)] // without a branch: half of all probes go either way
}

// DecodeHalf unpacks the beginning of half a block: into dst[0] its fence, which is the key before
// the block or the block's last, and into the rest of dst as many keys from there on. That is what a
// probe needs that knows about where in the block its keys are: the time is that of as many keys.
//
// Down, all bits of all keys are flipped, that of the fence too, so that they ascend as Up's do.
// Distances do not change where both sides are flipped.
//
// There must be 0 to as many keys as Steps says, or the error wraps ErrCorrupt; all else is as with
// DecodeBlock, but only the unpacked half is checked.
func (c *Code) DecodeHalf(dst []uint64, block []byte, side Side, fence uint64) error {
	if err := checkBlock(block); err != nil {
		return err
	}
	half := side.half(block)
	steps := Steps(block, side)
	if len(dst) == 0 || len(dst)-1 > steps || steps > maxSteps(len(half)) {
		return fmt.Errorf("huffman: %d keys of %d in half a block, %d bytes: %w", len(dst)-1, steps, len(half), ErrCorrupt)
	}
	if !asm.Decode(dst, half, fence^-uint64(side), &c.window) {
		return fmt.Errorf("huffman: half a block, %d bytes, does not decode to %d ascending keys: %w", len(half),
			len(dst)-1, ErrCorrupt)
	}
	return nil
}

func checkBlock(block []byte) error {
	if len(block) < BlockBytesMin || len(block) > BlockBytesMax {
		return fmt.Errorf("huffman: block of %d bytes: %w", len(block), ErrCorrupt)
	}
	return nil
}
