package table

import (
	"encoding/binary"

	"example.org/ndd/engine/storage/store"
	"example.org/ndd/huffman"
)

// A huffmanTable is the paper's table (section 3.2): the first key, blocks of a fixed size with the following keys,
// and the last key of each block. The fences of a block are the last key of the previous block and its own last key.
// It is decoded from either fence (package huffman).
//
//	last    | 0x03.. | 0x07.. | 0x0c.. | ...          8 bytes per block, searched by interpolation
//	blocks  | block 0| block 1| block 2| ...          package huffman, 1 KiB each
//	ranks   | 0      |        | ...                   keys before every 8th block
//	head    number of keys, bytes of a block, first key, code lengths
//
// The first key belongs to block 0, although the block does not contain it: it is the fence before the block.
type huffmanTable struct {
	keys       uint64
	blockBytes int
	first      uint64
	code       *huffman.Code
	blocks     store.Section
	last       []uint64
	ranks      []uint64
}

const (
	blocksPerRank = 8 // 8 bytes each: 0.04 bits per key with blocks of 1 KiB
	headBytes     = 24 + 64
)

func openHuffman(source store.Source, prefix string) (Table, error) {
	t := &huffmanTable{}
	head, err := store.SectionOf(source, prefix+"head", headBytes)
	if err != nil {
		return nil, err
	}
	// Check the head.
	t.keys = binary.LittleEndian.Uint64(head.Data)
	blockBytes := binary.LittleEndian.Uint64(head.Data[8:])
	if blockBytes < huffman.BlockBytesMin || blockBytes > huffman.BlockBytesMax {
		return nil, head.Corrupt(8, "blocks of %d bytes", blockBytes)
	}
	t.blockBytes = int(blockBytes)
	if t.code, err = huffman.NewCodeFromLengths((*[64]uint8)(head.Data[24:])); err != nil {
		return nil, head.Corrupt(24, "%v", err)
	}
	t.first = binary.LittleEndian.Uint64(head.Data[16:])
	// Check that the lengths of the sections agree.
	if t.blocks, err = source.Section(prefix + "blocks"); err != nil {
		return nil, err
	}
	n := uint64(len(t.blocks.Data)) / blockBytes
	if uint64(len(t.blocks.Data)) != n*blockBytes {
		return nil, t.blocks.Corrupt(0, "%d bytes of blocks of %d", len(t.blocks.Data), blockBytes)
	}
	last, err := store.SectionOf(source, prefix+"last", 8*n)
	if err != nil {
		return nil, err
	}
	ranks, err := store.SectionOf(source, prefix+"ranks", 8*((n+blocksPerRank-1)/blocksPerRank))
	if err != nil {
		return nil, err
	}
	// Check the number of keys.
	if t.keys > n*uint64(huffman.MaxKeys(t.blockBytes))+1 || t.keys <= n && n > 0 {
		return nil, head.Corrupt(0, "%d keys in %d blocks", t.keys, n)
	}
	t.last, t.ranks = store.Uint64s(last.Data), store.Uint64s(ranks.Data)
	return t, nil
}

func (t *huffmanTable) Len() uint64 { return t.keys }

// block returns the bytes of block b.
func (t *huffmanTable) block(b int) []byte { return t.blocks.Data[b*t.blockBytes : (b+1)*t.blockBytes] }

// fence returns the fence before block b (Up), or its last key (Down).
func (t *huffmanTable) fence(b int, side huffman.Side) uint64 {
	if b += int(side); b == 0 {
		return t.first
	}
	return t.last[b-1]
}

// keysOf returns the number of keys that belong to block b.
func (t *huffmanTable) keysOf(b int) uint64 {
	n := uint64(huffman.Keys(t.block(b)))
	if b == 0 {
		n++
	}
	return n
}

func (t *huffmanTable) corrupt(b int, err error) error {
	return t.blocks.Corrupt(uint64(b*t.blockBytes), "table block %d: %v", b, err)
}

func (t *huffmanTable) Parts() []Part {
	return []Part{
		{"blocks", uint64(len(t.blocks.Data))},
		{"last keys", 8 * uint64(len(t.last))},
		{"ranks", 8 * uint64(len(t.ranks))},
		{"head", headBytes},
	}
}
