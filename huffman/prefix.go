package huffman

import (
	"fmt"

	"ndd/asm"
)

// DecodePrefix unpacks the first len(dst) keys of a block: what a probe needs that knows about where in the block its keys
// are. The time is that of as many keys. There must be 1 to Keys(block) of them, or the error wraps ErrCorrupt; all else is as
// with DecodeBlock, but that only what is unpacked is checked.
func (c *Code) DecodePrefix(dst []uint64, block []byte) error {
	if len(block) < BlockBytesMin || len(block) > BlockBytesMax {
		return fmt.Errorf("huffman: block of %d bytes: %w", len(block), ErrCorrupt)
	}
	if n := Keys(block); len(dst) == 0 || len(dst) > n || n > MaxKeys(len(block)) {
		return fmt.Errorf("huffman: %d of %d keys in a block of %d bytes: %w", len(dst), n, len(block), ErrCorrupt)
	}
	if !asm.Decode(dst, block, &c.window) {
		return fmt.Errorf("huffman: block of %d bytes does not decode to %d ascending keys: %w", len(block), len(dst), ErrCorrupt)
	}
	return nil
}
