package segment

import (
	"cmp"
	"slices"
	"sort"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/store"
)

// A Range is a range of the segment's list of documents, which [Segment.Locate] finds for a fingerprint. It is empty if
// there are none.
type Range struct{ start, end uint64 }

// Len returns the number of documents.
func (r Range) Len() uint64 { return r.end - r.start }

// After returns the range without the first n of its documents.
func (r Range) After(n uint64) Range { return Range{r.start + n, r.end} }

// Locate sets ranges[i] to the documents of fingerprints[i]. The ranges are empty if the segment keeps no documents.
// Locate looks up the fingerprints in the order of table 0, so that it reads the data of adjacent ones only once.
//
// One fingerprint costs five consecutive misses, 1.3 us, and half a block of keys in a huffman table. The misses of
// many fingerprints overlap.
func (s *Segment) Locate(ranges []Range, fingerprints []uint64, c *Scratch) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	clear(ranges)
	if s.meta.Fingerprints == 0 || s.meta.NoDocs {
		return nil
	}
	keys, indexes := s.sorted(fingerprints, c)
	var buffer, ranks, scratch [locateAtOnce]uint64
	for len(keys) > 0 {
		n := min(len(keys), locateAtOnce)
		if err := table.Ranks(ranks[:n], s.tables[0], keys[:n], &c.Scratch); err != nil {
			return err
		}
		found := slices.DeleteFunc(append(buffer[:0], ranks[:n]...), func(r uint64) bool { return r == table.NoRank })
		s.docs.prefetch(found, scratch[:])
		for i, index := range indexes[:n] {
			if ranks[i] == table.NoRank {
				continue
			}
			if ranges[index], err = s.docs.rangeOf(ranks[i]); err != nil {
				return err
			}
		}
		keys, indexes = keys[n:], indexes[n:]
	}
	return nil
}

// locateAtOnce is the number of fingerprints that are looked up together.
const locateAtOnce = 128

// radixSortMin is the number of fingerprints from which a radix sort is faster.
const radixSortMin = 1 << 12

// sorted returns the fingerprints permuted for table 0, in ascending order, and the index of each in the argument.
func (s *Segment) sorted(fingerprints []uint64, c *Scratch) (keys []uint64, indexes []uint32) {
	n := len(fingerprints)
	c.keys, c.indexes = slices.Grow(c.keys[:0], n)[:n], slices.Grow(c.indexes[:0], n)[:n]
	mask := s.perms[0].Mask()
	if n >= radixSortMin {
		radix.Rows(c.keys, c.indexes, fingerprints, mask, 1)
		return c.keys, c.indexes
	}
	c.ranks = slices.Grow(c.ranks[:0], n)[:n]
	asm.Permute(c.ranks, fingerprints, mask)
	for i := range c.indexes {
		c.indexes[i] = uint32(i)
	}
	slices.SortFunc(c.indexes, func(a, b uint32) int { return cmp.Compare(c.ranks[a], c.ranks[b]) })
	for i, index := range c.indexes {
		c.keys[i] = c.ranks[index]
	}
	return c.keys, c.indexes
}

// AppendDocs appends the rows of the first limit documents of a range, in ascending order. The caller catches faults of
// the file ([store.EndFaults]), because AppendDocs is called for every hit.
func (s *Segment) AppendDocs(dst []uint64, r Range, limit int) ([]uint64, error) {
	for i := r.start; i < r.start+min(r.Len(), uint64(limit)); i++ {
		doc, err := s.docs.row(i)
		if err != nil {
			return dst, err
		}
		dst = append(dst, doc)
	}
	return dst, nil
}

// HasDoc reports whether a range contains the document of a row, by a binary search. The caller catches faults of the
// file.
func (s *Segment) HasDoc(r Range, row uint64) (ok bool, err error) {
	_, ok = sort.Find(int(r.Len()), func(i int) int {
		doc, errRow := s.docs.row(r.start + uint64(i))
		err = cmp.Or(err, errRow)
		return cmp.Compare(row, doc)
	})
	return ok, err
}
