package dedup

import "encoding/binary"

// idColumn is the IDs by row, in blocks of memory, 8 bytes each beside their own: a third
// of what a slice of strings takes, and nothing for the collector to follow.
type idColumn struct {
	blocks [][]byte
	at     []uint64 // block<<32 | offset of the ID's length
	bytes  uint64   // of all blocks
}

// idBlockBytes is the size of a block.
const idBlockBytes = 1 << 20

// append adds the ID of the next row.
func (c *idColumn) append(s string) {
	need := binary.MaxVarintLen64 + len(s)
	last := len(c.blocks) - 1
	if last < 0 || cap(c.blocks[last])-len(c.blocks[last]) < need {
		c.blocks = append(c.blocks, make([]byte, 0, max(idBlockBytes, need)))
		last++
		c.bytes += uint64(cap(c.blocks[last]))
	}
	b := c.blocks[last]
	c.at = append(c.at, uint64(last)<<32|uint64(len(b)))
	c.blocks[last] = append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// id returns the ID of a row, which is not to be written.
func (c *idColumn) id(i uint32) []byte {
	b := c.blocks[c.at[i]>>32][uint32(c.at[i]):]
	size, k := binary.Uvarint(b)
	return b[k : k+int(size)]
}
