package huffman

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ndd/asm"
)

// ErrCorrupt is what errors.Is finds in the error for a block that AppendBlock cannot have written.
var ErrCorrupt = errors.New("corrupt block")

// DecodeBlock unpacks a block into dst and returns how many keys it holds: those are dst[:n],
// strictly ascending. dst must have room for them: MaxKeys(len(block)) is always enough, and the
// most that AppendBlock took for a block of the table will do. Beyond n, dst is not written.
//
// Any bytes may be given. What cannot be a block of this code is an error that wraps ErrCorrupt,
// and leaves anything in dst: a length that no block has, no keys or more than dst holds, codes or
// raw bits that run out of the block or into each other, keys that do not ascend. It never panics,
// and reads and writes nothing outside block and dst. Nothing is allocated but the error. That
// bytes changed which still make a block is for the caller's checksum to find.
func (c *Code) DecodeBlock(dst []uint64, block []byte) (n int, err error) {
	if len(block) < BlockBytesMin || len(block) > BlockBytesMax {
		return 0, fmt.Errorf("huffman: block of %d bytes: %w", len(block), ErrCorrupt)
	}
	n = Keys(block)
	if n == 0 || n > len(dst) || n > MaxKeys(len(block)) {
		return 0, fmt.Errorf("huffman: %d keys in a block of %d bytes, read into %d: %w", n, len(block), len(dst), ErrCorrupt)
	}
	if !asm.Decode(dst[:n], block, &c.window) {
		return 0, fmt.Errorf("huffman: block of %d bytes does not decode to %d ascending keys: %w", len(block), n, ErrCorrupt)
	}
	return n, nil
}

// Keys returns how many keys a block says it holds. DecodeBlock checks it.
func Keys(block []byte) int { return int(binary.LittleEndian.Uint16(block)) }

// First returns the first key of a block.
func First(block []byte) uint64 { return binary.LittleEndian.Uint64(block[2:]) }
