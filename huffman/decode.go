package huffman

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"example.org/ndd/asm"
)

// ErrCorrupt is wrapped by the error for a block that AppendBlock cannot have written.
var ErrCorrupt = errors.New("corrupt block")

// DecodeBlock unpacks a block. Its fences are previous, the key before the block's first key, and last, its last key.
// It returns the number n of keys in the block. dst[1:n+1] are the keys, strictly ascending, and dst[0] is previous.
// MaxKeys(len(block)) + 1 is always enough space in dst. Elements after n are not written.
//
// All bytes and fences are allowed. DecodeBlock returns an error that wraps ErrCorrupt if the block is not a block of
// this code. Reasons are an invalid length, more keys than dst can hold, codes or raw bits that leave their half or
// overlap, and keys that do not ascend. The content of dst is then undefined. DecodeBlock never panics, and accesses
// nothing outside block and dst. It allocates only the error. The caller's checksum must detect changed bytes that
// still form a block.
func (c *Code) DecodeBlock(dst []uint64, block []byte, previous, last uint64) (n int, err error) {
	if err := checkBlock(block); err != nil {
		return 0, err
	}
	ups, downs := Steps(block, Up), Steps(block, Down)
	if n = ups + 1 + downs; n >= len(dst) {
		return 0, fmt.Errorf("huffman: %d keys in a block of %d bytes, read into %d: %w", n, len(block), len(dst), ErrCorrupt)
	}
	upKeys, downKeys := dst[:ups+1], dst[ups+1:n+1]
	if err := c.DecodeHalf(upKeys, block, Up, previous); err != nil {
		return 0, err
	}
	if err := c.DecodeHalf(downKeys, block, Down, last); err != nil {
		return 0, err
	}
	slices.Reverse(downKeys)
	for i, flipped := range downKeys {
		downKeys[i] = ^flipped
	}
	if upKeys[ups] >= downKeys[0] {
		return 0, fmt.Errorf("huffman: block of %d bytes, whose halves overlap: %w", len(block), ErrCorrupt)
	}
	return n, nil
}

// A Side is one half of a block.
type Side int

// The sides.
const (
	Up   Side = iota // the keys after the fence before the block, upwards
	Down             // the keys before the block's last key, downwards
)

// Steps returns the number of keys in a half according to the block, without the fence. DecodeHalf checks it.
func Steps(block []byte, side Side) int { return int(binary.LittleEndian.Uint16(side.half(block))) }

// Keys returns the number of keys according to the block.
func Keys(block []byte) int { return Steps(block, Up) + 1 + Steps(block, Down) }

// half returns one half of a block. If the number of bytes is odd, the second half has one more.
func (s Side) half(block []byte) []byte {
	middle := len(block) / 2
	return block[middle*int(s) : middle+(len(block)-middle)*int(s)] // without a branch, because half of all probes take either side
}

// DecodeHalf unpacks the beginning of half a block: its fence to dst[0], and the next keys to the rest of dst. The
// fence is the key before the block or its last key. A probe that knows the approximate position of its keys needs
// only these keys. The time is proportional to their number.
//
// With Down, all bits of the keys and of the fence are flipped, so that the keys ascend as with Up. Flipping
// all bits of two keys does not change their distance.
//
// The rest of dst may have 0 to Steps keys; otherwise the error wraps ErrCorrupt. All other conditions are those of
// DecodeBlock, but only the unpacked part is checked.
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
