package table

import (
	"errors"
	"slices"

	"ndd/asm"
	"ndd/huffman"
)

// decode unpacks block b: its fence before, and its keys.
func (t *huffmanTable) decode(b int, c *Scratch) ([]uint64, error) {
	if n := huffman.MaxKeys(t.blockBytes) + 1; len(c.keys) < n {
		c.keys = make([]uint64, n)
	}
	n, err := t.code.DecodeBlock(c.keys, t.block(b), t.before(b), t.last[b])
	if err != nil {
		return nil, t.corrupt(b, err)
	}
	return c.keys[:n+1], nil
}

// Rank looks in the nearer half of the key's block, as a probe does.
func (t *huffmanTable) Rank(key uint64, c *Scratch) (uint64, bool, error) {
	if t.keys == 0 {
		return 0, false, nil
	}
	var at [1]int
	asm.Interpolate(at[:], t.last, []uint64{key})
	return t.rankIn(at[0], key, false, c)
}

// sortedRanks unpacks halves whole of which more than one key is looked for.
func (t *huffmanTable) sortedRanks(ranks, keys []uint64, c *Scratch) error {
	var blocks [ranksAtOnce]int
	if t.keys > 0 {
		asm.Interpolate(blocks[:len(keys)], t.last, keys)
	}
	for i, key := range keys {
		b := blocks[i]
		shared := i > 0 && blocks[i-1] == b || i+1 < len(keys) && blocks[i+1] == b
		rank, ok, err := t.rankIn(b, key, shared, c)
		if err != nil {
			return err
		}
		if ranks[i] = rank; !ok {
			ranks[i] = NoRank
		}
	}
	return nil
}

// rankIn is [huffmanTable.Rank] of a key that is in block b, or nowhere. Of the half that it is in,
// all is unpacked, if whole says so, and found there by the next call.
func (t *huffmanTable) rankIn(b int, key uint64, whole bool, c *Scratch) (uint64, bool, error) {
	if t.keys == 0 || key <= t.first {
		return 0, t.keys > 0 && key == t.first, nil
	}
	if b == len(t.last) {
		return 0, false, nil
	}
	p := t.place(b, key, key)
	if whole {
		p.share = 1
	}
	for range 2 {
		bound := key ^ -uint64(p.side)
		half, err := t.unpack(b, p, bound, c)
		if err != nil {
			return 0, false, err
		}
		if i, ok := slices.BinarySearch(half.keys, bound); ok {
			rank, err := t.rank(b, p.side, i)
			return rank, err == nil, err
		} else if i < len(half.keys) {
			return 0, false, nil
		}
		p = huffmanPlace{p.side ^ 1, 1}
	}
	return 0, false, nil
}

// rank is the rank of a key that is i steps from a fence of block b.
func (t *huffmanTable) rank(b int, side huffman.Side, i int) (uint64, error) {
	rank := t.ranks[b/blocksPerRank]
	for before := b / blocksPerRank * blocksPerRank; before < b; before++ {
		rank += t.keysOf(before)
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

// Key finds the block of rank by bisection of ranks and by the counts of at most
// 7 blocks before it, and unpacks it.
func (t *huffmanTable) Key(rank uint64, c *Scratch) (uint64, error) {
	if err := checkRank(rank, t.keys); err != nil {
		return 0, err
	}
	if rank == 0 {
		return t.first, nil
	}
	past, found := slices.BinarySearch(t.ranks, rank)
	if found {
		past++
	}
	if past == 0 {
		return 0, t.blocks.Corrupt(0, "no block begins at rank %d or before", rank)
	}
	left := rank - t.ranks[past-1]
	for b := (past - 1) * blocksPerRank; b < min(past*blocksPerRank, len(t.last)); b++ {
		n := t.keysOf(b)
		if left >= n {
			left -= n
			continue
		}
		keys, err := t.decode(b, c)
		if err != nil {
			return 0, err
		}
		return keys[uint64(len(keys))-n+left], nil
	}
	return 0, t.blocks.Corrupt(0, "rank %d is not in the blocks before rank %d", rank, past*blocksPerRank)
}

func (t *huffmanTable) Walk(yield func([]uint64) bool) error {
	return t.WalkPart(0, 1, 1, func(_ uint64, keys []uint64) bool { return yield(keys) })
}

// WalkPart has parts begin and end with blocks.
func (t *huffmanTable) WalkPart(from, to, of uint64, yield func(uint64, []uint64) bool) error {
	if t.keys == 0 || from == to {
		return nil
	}
	n := uint64(len(t.last))
	first, past := int(share(n, from, of)), int(share(n, to, of))
	rank, err := t.begins(first)
	if err != nil {
		return err
	}
	if from == 0 {
		if !yield(0, []uint64{t.first}) {
			return nil
		}
	}
	var c Scratch
	for b := first; b < past; b++ {
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
	if due, err := t.begins(past); err != nil || rank != due {
		return errors.Join(err, t.blocks.Corrupt(0, "%d keys in the blocks before block %d, %d by the ranks and the head", rank, past, due))
	}
	return nil
}

// PartWith returns the blocks between.
func (t *huffmanTable) PartWith(low, high uint64) (from, to, of uint64) {
	n := len(t.last)
	if n == 0 {
		return 0, 1, 1
	}
	first, _ := slices.BinarySearch(t.last, low)
	last, _ := slices.BinarySearch(t.last, high)
	return uint64(first), uint64(min(last+1, n)), uint64(n)
}

// begins returns the rank of the first key behind the fence before block b, or the number of keys behind the last block.
func (t *huffmanTable) begins(b int) (uint64, error) {
	if b == len(t.last) {
		return t.keys, nil
	}
	return t.rank(b, huffman.Up, 1)
}
