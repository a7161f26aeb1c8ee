package dedup

import "encoding/binary"

// names are strings in blocks of memory, 8 bytes each beside their own: a third
// of what a slice of strings takes, and nothing for the collector to follow.
type names struct {
	blocks [][]byte
	at     []uint64 // block<<32 | offset of the name's length
	bytes  uint64   // of all blocks
}

const nameBlock = 1 << 20

func (n *names) append(s string) {
	need := binary.MaxVarintLen64 + len(s)
	last := len(n.blocks) - 1
	if last < 0 || cap(n.blocks[last])-len(n.blocks[last]) < need {
		n.blocks = append(n.blocks, make([]byte, 0, max(nameBlock, need)))
		last++
		n.bytes += uint64(cap(n.blocks[last]))
	}
	b := n.blocks[last]
	n.at = append(n.at, uint64(last)<<32|uint64(len(b)))
	n.blocks[last] = append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (n *names) name(i uint32) string {
	b := n.blocks[n.at[i]>>32][uint32(n.at[i]):]
	size, k := binary.Uvarint(b)
	return string(b[k : k+int(size)])
}
