package table

import (
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/huffman"
)

// decode decodes block b. It returns the fence before the block and the keys.
func (t *huffmanTable) decode(b int, c *Scratch) ([]uint64, error) {
	if n := huffman.MaxKeys(t.blockBytes) + 1; len(c.keys) < n {
		c.keys = make([]uint64, n)
	}
	n, err := t.code.DecodeBlock(c.keys, t.block(b), t.fence(b, huffman.Up), t.last[b])
	if err != nil {
		return nil, t.corrupt(b, err)
	}
	return c.keys[:n+1], nil
}

// sortedRanks decodes a half completely if it is searched for more than one key.
func (t *huffmanTable) sortedRanks(ranks, keys []uint64, c *Scratch) error {
	var blocks [ranksAtOnce]int
	if t.keys > 0 {
		asm.Interpolate(blocks[:len(keys)], t.last, keys)
	}
	for i, key := range keys {
		b := blocks[i]
		shared := i > 0 && blocks[i-1] == b || i+1 < len(keys) && blocks[i+1] == b
		var err error
		if ranks[i], err = t.rankIn(b, key, shared, c); err != nil {
			return err
		}
	}
	return nil
}

// rankIn returns the rank of a key in block b, or NoRank. Like a probe, it searches the nearer half first. If full
// is true, it decodes all of that half for the next call.
func (t *huffmanTable) rankIn(b int, key uint64, full bool, c *Scratch) (uint64, error) {
	switch {
	case t.keys > 0 && key == t.first:
		return 0, nil
	case t.keys == 0 || key < t.first || b == len(t.last):
		return NoRank, nil
	}
	p := t.position(b, key, key)
	if full {
		p.share = 1
	}
	for range 2 {
		bound := key ^ -uint64(p.side)
		half, err := t.unpack(b, p, bound, c)
		if err != nil {
			return 0, err
		}
		if i, ok := slices.BinarySearch(half.keys, bound); ok {
			return t.rank(b, p.side, i)
		} else if i < len(half.keys) {
			return NoRank, nil
		}
		p = huffmanPlace{p.side ^ 1, 1}
	}
	return NoRank, nil
}

// rank returns the rank of the key at i steps from a fence of block b.
func (t *huffmanTable) rank(b int, side huffman.Side, i int) (uint64, error) {
	rank := t.ranks[b/blocksPerRank]
	for first := b / blocksPerRank * blocksPerRank; first < b; first++ {
		rank += t.keysOf(first)
	}
	switch {
	case side == huffman.Down:
		rank += t.keysOf(b) - 1 - uint64(i)
	case b == 0:
		rank += uint64(i)
	default:
		rank += uint64(i) - 1
	}
	if rank >= t.keys {
		return 0, t.blocks.Corrupt(uint64(b*t.blockBytes), "table block %d: rank %d of %d keys", b, rank, t.keys)
	}
	return rank, nil
}

// WalkPart divides the table between blocks.
func (t *huffmanTable) WalkPart(start, end, parts uint64, yield func(uint64, []uint64) bool) error {
	if t.keys == 0 || start == end {
		return nil
	}
	// Find the blocks of the part, and the rank of their first key.
	n := uint64(len(t.last))
	first, stop := int(share(n, start, parts)), int(share(n, end, parts))
	rank, err := t.begins(first)
	if err != nil {
		return err
	}
	if start == 0 {
		if !yield(0, []uint64{t.first}) {
			return nil
		}
	}
	// Decode block by block.
	var c Scratch
	for b := first; b < stop; b++ {
		keys, err := t.decode(b, &c)
		if err != nil {
			return err
		}
		keys = keys[1:]
		if !yield(rank, keys) {
			return nil
		}
		rank += uint64(len(keys))
	}
	// The rank after the last block must agree with the ranks or the head.
	due, err := t.begins(stop)
	if err == nil && rank != due {
		err = t.blocks.Corrupt(0, "%d keys in the blocks before block %d, %d by the ranks and the head", rank, stop, due)
	}
	return err
}

// PartWith returns the blocks that may contain keys from low to high.
func (t *huffmanTable) PartWith(low, high uint64) (start, end, parts uint64) {
	n := len(t.last)
	if n == 0 {
		return 0, 1, 1
	}
	first, _ := slices.BinarySearch(t.last, low)
	last, _ := slices.BinarySearch(t.last, high)
	return uint64(first), uint64(min(last+1, n)), uint64(n)
}

// begins returns the rank of the first key after the fence before block b. For the end of the last block, it returns
// the number of keys.
func (t *huffmanTable) begins(b int) (uint64, error) {
	if b == len(t.last) {
		return t.keys, nil
	}
	return t.rank(b, huffman.Up, 1)
}
