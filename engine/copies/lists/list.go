package lists

import (
	"encoding/binary"
	"iter"
	"slices"
)

// blockRanks is the number of ranks of each block of a list but the last.
const blockRanks = 128

// A listWriter encodes lists. It reuses its memory.
type listWriter struct {
	bits bitWriter
	gaps []uint64
}

// appendList appends the encoded list of at least one rank.
func (w *listWriter) appendList(dst []byte, ranks []uint32) []byte {
	w.bits.data = w.bits.data[:0]
	dst = binary.AppendUvarint(dst, uint64(len(ranks)))
	ends := []int{}
	before := int64(-1)
	for block := range slices.Chunk(ranks, blockRanks) {
		w.gaps = w.gaps[:0]
		for _, r := range block {
			w.gaps = append(w.gaps, uint64(int64(r)-before-1))
			before = int64(r)
		}
		k := riceParameter(w.gaps)
		w.bits.put(uint64(k), 8)
		for _, g := range w.gaps {
			w.bits.rice(g, k)
		}
		w.bits.flush()
		ends = append(ends, len(w.bits.data))
	}
	if len(ends) > 1 {
		from, before := 0, uint32(0)
		for i, end := range ends {
			last := ranks[min((i+1)*blockRanks, len(ranks))-1]
			dst = binary.AppendUvarint(dst, uint64(last-before))
			dst = binary.AppendUvarint(dst, uint64(end-from))
			from, before = end, last
		}
	}
	return append(dst, w.bits.data...)
}

type list struct {
	count int
	skips []byte // empty where there is one block
	body  []byte // of all blocks, and more
}

// listAt returns the list at a position of the section; ok is false if it cannot be valid.
func listAt(data []byte, at uint64, most int) (l list, ok bool) {
	if at >= uint64(len(data)) {
		return l, false
	}
	count, n := binary.Uvarint(data[at:])
	if n <= 0 || count == 0 || count > uint64(most) {
		return l, false
	}
	l.count = int(count)
	rest := data[at+uint64(n):]
	if l.count <= blockRanks {
		l.body = rest
		return l, true
	}
	i := 0
	for range 2 * l.blocks() {
		_, n := binary.Uvarint(rest[i:])
		if n <= 0 {
			return l, false
		}
		i += n
	}
	l.skips, l.body = rest[:i], rest[i:]
	return l, true
}

func (l *list) blocks() int { return (l.count + blockRanks - 1) / blockRanks }

// A block is a block of a list that is not decoded yet.
type block struct {
	before int64 // the rank before its first, -1 for none
	last   int64 // its last rank, -1 where that is not known
	count  int
	body   []byte
}

// all yields the blocks. An invalid list may end early.
func (l *list) all() iter.Seq[block] {
	return func(yield func(block) bool) {
		if len(l.skips) == 0 {
			yield(block{-1, -1, l.count, l.body})
			return
		}
		skips, body, before, left := l.skips, l.body, int64(-1), l.count
		for left > 0 {
			last, n := binary.Uvarint(skips)
			size, m := binary.Uvarint(skips[n:])
			skips = skips[n+m:]
			if size > uint64(len(body)) || last > 1<<32 {
				return
			}
			b := block{before, max(before, 0) + int64(last), min(left, blockRanks), body[:size]}
			if !yield(b) {
				return
			}
			body, before, left = body[size:], b.last, left-b.count
		}
	}
}

// appendRanks appends the block's ranks, which ascend and are below most; ok is false if they are
// invalid.
func (b *block) appendRanks(dst []uint32, most int) (_ []uint32, ok bool) {
	if len(b.body) == 0 || b.body[0] > 63 {
		return dst, false
	}
	r := bitReader{data: b.body, at: 8}
	k := int(b.body[0])
	rank := b.before
	for range b.count {
		gap := r.rice(k)
		if gap >= uint64(most) {
			return dst, false
		}
		if rank += int64(gap) + 1; rank >= int64(most) {
			return dst, false
		}
		dst = append(dst, uint32(rank))
	}
	return dst, !r.bad && (b.last < 0 || rank == b.last)
}
