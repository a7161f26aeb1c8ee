package segment

import (
	"cmp"
	"slices"

	"ndd/asm"
	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/storage/store"
)

// A Range is where the documents of a fingerprint stand in the segment's list of them, as
// [Segment.Locate] finds it. It is empty where there are none.
type Range struct{ from, to uint64 }

// Len returns how many documents it has.
func (r Range) Len() uint64 { return r.to - r.from }

// After returns the range without the first n of its documents.
func (r Range) After(n uint64) Range { return Range{r.from + n, r.to} }

// Locate sets ranges, which must be as many as the fingerprints, to where the documents of each of them
// stand: nowhere, where the segment keeps no documents. The fingerprints are looked for in the order of table 0, so that those that stand together
// there, as those near one query may, are found by reading what they share once.
//
// One fingerprint costs five misses one after the other, 1.3 us, and half a block of keys in a huffman
// table; of many the misses are under way together.
func (s *Segment) Locate(ranges []Range, fingerprints []uint64, c *Scratch) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	clear(ranges)
	if s.meta.Fingerprints == 0 || s.meta.NoDocs {
		return nil
	}
	pairs := s.sorted(fingerprints, c)
	var keys, ranks, room [locateAtOnce]uint64
	for len(pairs) > 0 {
		n := min(len(pairs), locateAtOnce)
		for i, p := range pairs[:n] {
			keys[i] = p[0]
		}
		if err := table.Ranks(ranks[:n], s.tables[0], keys[:n], &c.table); err != nil {
			return err
		}
		s.docs.prefetch(found(keys[:0], ranks[:n]), room[:])
		for i, p := range pairs[:n] {
			if ranks[i] == table.NoRank {
				continue
			}
			from, to, ok := s.docs.of(ranks[i])
			if !ok {
				return s.docs.corrupt(0, "no documents of the fingerprint of rank %d", ranks[i])
			}
			ranges[p[1]] = Range{from, to}
		}
		pairs = pairs[n:]
	}
	return nil
}

// locateAtOnce fingerprints are looked for together.
const locateAtOnce = 128

// found appends the ranks of keys that are there to dst.
func found(dst, ranks []uint64) []uint64 {
	for _, r := range ranks {
		if r != table.NoRank {
			dst = append(dst, r)
		}
	}
	return dst
}

// sorted returns the fingerprints permuted for table 0, each with its place among them, ascending.
func (s *Segment) sorted(fingerprints []uint64, c *Scratch) []radix.Pair {
	n := len(fingerprints)
	c.pairs = slices.Grow(c.pairs[:0], n)[:n]
	mask := s.perms[0].Mask()
	c.ranks = slices.Grow(c.ranks[:0], n)[:n]
	asm.Permute(c.ranks, fingerprints, mask)
	for i, key := range c.ranks {
		c.pairs[i] = radix.Pair{key, uint64(i)}
	}
	slices.SortFunc(c.pairs, func(a, b radix.Pair) int { return cmp.Compare(a[0], b[0]) })
	return c.pairs
}

// AppendDocs appends the rows of the documents of a range, ascending, the first most of them. The caller catches
// faults of the file ([store.CatchFault]): this is called for every hit.
func (s *Segment) AppendDocs(dst []uint64, r Range, most int) ([]uint64, error) {
	for i := r.from; i < r.from+min(r.Len(), uint64(most)); i++ {
		doc := s.docs.ordinals.At(i)
		if doc >= s.meta.Documents {
			return dst, s.docs.corrupt(i, "document %d of %d", doc, s.meta.Documents)
		}
		dst = append(dst, doc)
	}
	return dst, nil
}

// ScanEach calls yield with every distinct fingerprint of the segment within distance k of a query, each
// once, some at a time, in no order: however many they are, little memory is taken. It costs a
// pass over one table. The memory of the list is used again after the call; an error of yield ends it.
func (s *Segment) ScanEach(query uint64, k int, c *Scratch, yield func(fingerprints []uint64) error) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	defer s.inOrder()()
	perm := &s.perms[0]
	return table.ScanEach(s.tables[0], perm.Apply(query), k, &c.table, func(keys []uint64) error {
		asm.Unpermute(keys, keys, perm.Mask())
		return yield(keys)
	})
}
