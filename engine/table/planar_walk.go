package table

import "math/bits"

func (t *planarTable) Rank(key uint64, _ *Scratch) (uint64, bool, error) {
	if t.Len() == 0 {
		return 0, false, nil
	}
	group := key >> (64 - t.directory.GroupBits)
	first, end, err := t.group(group)
	if err != nil {
		return 0, false, err
	}
	start, end := t.narrow(first, end, key, key)
	tail := ^uint64(0) >> t.bucketBits
	for i, low := range t.directory.Low[start:end] {
		rank := start + uint64(i)
		if low != uint16(key) || t.below(rank) != key&tail {
			continue
		}
		found, err := t.key(rank, group, first)
		if err != nil {
			return 0, false, err
		}
		if found == key {
			return rank, true, nil
		}
	}
	return 0, false, nil
}

// Key finds the group of rank by bisection of the blocks, and of a block's groups.
func (t *planarTable) Key(rank uint64, _ *Scratch) (uint64, error) {
	if err := checkRank(rank, t.Len()); err != nil {
		return 0, err
	}
	// The last group that begins at rank or before, and is not empty.
	low, high := uint64(0), uint64(1)<<t.directory.GroupBits
	for high-low > groupsPerBlock {
		if middle := (low + high) / 2; t.directory.Base(middle/groupsPerBlock) <= rank {
			low = middle
		} else {
			high = middle
		}
	}
	for high-low > 1 {
		middle := (low + high) / 2
		start, _, err := t.group(middle)
		if err != nil {
			return 0, err
		}
		if start <= rank {
			low = middle
		} else {
			high = middle
		}
	}
	start, end, err := t.group(low)
	if err != nil {
		return 0, err
	}
	if rank < start || rank >= end {
		return 0, t.wrong(rank, low)
	}
	return t.key(rank, low, start)
}

// Walk reads all planes side by side, and holds the directory and the fences
// against them.
func (t *planarTable) Walk(yield func([]uint64) bool) error {
	shift := 64 - t.bucketBits
	spread := t.bucketBits - t.directory.GroupBits
	buffer := make([]uint64, 0, fenceKeys)
	rank, before, next := uint64(0), uint64(0), uint64(0) // next: the first group not begun
	end := uint64(0)                                      // of group next-1
	begin := func(group uint64) error {
		for ; next <= group; next++ {
			start, past, err := t.group(next)
			if err != nil {
				return err
			}
			if start != rank || end != rank {
				return t.head.Corrupt(0, "group %d begins at rank %d; the directory says %d, and %d for the end of the one before", next, rank, start, end)
			}
			end = past
		}
		return nil
	}
	for i, word := range t.unary {
		for ; word != 0; word &= word - 1 {
			bit := uint64(i)*64 + uint64(bits.TrailingZeros64(word))
			bucket := bit - rank
			if rank == t.Len() || bucket>>t.bucketBits != 0 {
				return t.head.Corrupt(0, "unary bit %d is more than the table's keys", bit)
			}
			key := bucket<<shift | t.below(rank)
			if rank > 0 && key <= before {
				return t.head.Corrupt(0, "key %d does not ascend", rank)
			}
			if err := begin(bucket >> spread); err != nil {
				return err
			}
			if rank%fenceKeys == 0 && t.fences[rank/fenceKeys] != key {
				return t.head.Corrupt(0, "the fence of key %d is another key", rank)
			}
			before = key
			rank++
			if buffer = append(buffer, key); len(buffer) == fenceKeys {
				if !yield(buffer) {
					return nil
				}
				buffer = buffer[:0]
			}
		}
	}
	if rank != t.Len() {
		return t.head.Corrupt(0, "%d keys in the unary bits, %d by the head", rank, t.Len())
	}
	if err := begin(1<<t.directory.GroupBits - 1); err != nil {
		return err
	}
	if end != rank {
		return t.head.Corrupt(0, "the last group ends at rank %d of %d", end, rank)
	}
	if len(buffer) > 0 {
		yield(buffer)
	}
	return nil
}
