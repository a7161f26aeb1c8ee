package lists

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"ndd/engine/copies/postings"
	"ndd/engine/storage/store"
)

// partitionOf returns the partition of documents with size signatures, at least 1: one for each
// size up to 8, then in steps of a quarter.
func partitionOf(size int) int {
	return sort.Search(len(partitionFrom), func(i int) bool { return partitionFrom[i] > size }) - 1
}

// partitionFrom are the least sizes of the partitions.
var partitionFrom = func() (from []int) {
	for size := 1; size <= math.MaxInt32-math.MaxInt32/4; size += max(size/4, 1) {
		from = append(from, size)
	}
	return from
}()

// documents are the documents of an index by rank.
type documents struct {
	docs   []uint32
	sizes  []uint32
	starts []uint32            // first rank of each partition, and the end
	equal  map[uint32][]uint32 // by rank: all documents with its set
}

// rank sorts the documents of sets by partition and number.
func rank(s *postings.Sets) documents {
	d := documents{docs: slices.Clone(s.Docs), equal: map[uint32][]uint32{}}
	slices.SortFunc(d.docs, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(partitionOf(len(s.Set(a))), partitionOf(len(s.Set(b)))), cmp.Compare(a, b))
	})
	rankOf := make(map[uint32]uint32, len(s.Equal))
	for _, g := range s.Equal {
		rankOf[g[0]] = 0
	}
	for rank, doc := range d.docs {
		d.sizes = append(d.sizes, uint32(len(s.Set(doc))))
		if _, ok := rankOf[doc]; ok {
			rankOf[doc] = uint32(rank)
		}
	}
	for _, g := range s.Equal {
		d.equal[rankOf[g[0]]] = g
	}
	return d
}

// append appends the stored form of the documents: for each partition their number, and for each
// document its distance from the one before, its size above the partition's least, and the
// documents with equal sets.
func (d *documents) append(dst []byte) []byte {
	for i := 0; i < len(d.docs); {
		p := partitionOf(int(d.sizes[i]))
		j := i
		for j < len(d.docs) && partitionOf(int(d.sizes[j])) == p {
			j++
		}
		dst = binary.AppendUvarint(dst, uint64(p))
		dst = binary.AppendUvarint(dst, uint64(j-i))
		before := uint32(0)
		for rank := i; rank < j; rank++ {
			others := d.equal[uint32(rank)]
			more := uint64(d.sizes[rank]-uint32(partitionFrom[p])) << 1
			if len(others) > 0 {
				more |= 1
			}
			dst = binary.AppendUvarint(dst, uint64(d.docs[rank]-before))
			dst = binary.AppendUvarint(dst, more)
			before = d.docs[rank]
			if len(others) > 0 {
				dst = binary.AppendUvarint(dst, uint64(len(others)-1))
				for i, doc := range others[1:] {
					dst = binary.AppendUvarint(dst, uint64(doc-others[i]))
				}
			}
		}
		i = j
	}
	return dst
}

// openDocuments reads the documents of ranks ranks, which are below most.
func openDocuments(s store.Section, ranks, most uint64) (d documents, err error) {
	r := reader{section: &s}
	if ranks > uint64(len(s.Data)) || ranks > most || most > 1<<32 {
		return d, s.Corrupt(0, "%d bytes for %d documents", len(s.Data), ranks)
	}
	d = documents{docs: make([]uint32, 0, ranks), sizes: make([]uint32, 0, ranks), equal: map[uint32][]uint32{}}
	last := -1
	for r.at < len(s.Data) && r.err == nil {
		p, n := int(r.number(uint64(len(partitionFrom)-1))), r.number(ranks-uint64(len(d.docs)))
		if p <= last || n == 0 {
			r.fail()
			break
		}
		d.startAt(p)
		last = p
		d.partition(&r, p, n, most)
	}
	if uint64(len(d.docs)) != ranks {
		r.fail()
	}
	d.startAt(len(partitionFrom))
	return d, r.err
}

// startAt sets the start of partition p, and of those before it that have none, to the next rank.
func (d *documents) startAt(p int) {
	for len(d.starts) <= p {
		d.starts = append(d.starts, uint32(len(d.docs)))
	}
}

func (d *documents) partition(r *reader, p int, n, most uint64) {
	before := uint64(0)
	for i := uint64(0); i < n && r.err == nil; i++ {
		doc := before + r.number(most-1-before)
		more := r.number(1 << 32)
		size := uint64(partitionFrom[p]) + more>>1
		if i > 0 && doc == before || partitionOf(int(size)) != p {
			r.fail()
			return
		}
		before = doc
		if more&1 == 1 {
			d.equal[uint32(len(d.docs))] = r.group(uint32(doc), most)
		}
		d.docs = append(d.docs, uint32(doc))
		d.sizes = append(d.sizes, uint32(size))
	}
}

// ranks returns the ranks of the partitions that have documents with smallest to largest
// signatures.
func (d *documents) ranks(smallest, largest int) (from, to uint32) {
	from = d.starts[partitionOf(max(smallest, 1))]
	last := partitionOf(min(max(largest, 1), math.MaxInt32))
	return from, d.starts[last+1]
}

// A reader reads numbers of a section. After an error it returns 0.
type reader struct {
	section *store.Section
	at      int
	err     error
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = r.section.Corrupt(uint64(r.at), "documents that lie")
	}
}

func (r *reader) number(most uint64) uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.section.Data[r.at:])
	if n <= 0 || v > most {
		r.fail()
		return 0
	}
	r.at += n
	return v
}

// group reads the documents with the same set as one.
func (r *reader) group(first uint32, most uint64) []uint32 {
	n := r.number(uint64(len(r.section.Data) - r.at))
	group := append(make([]uint32, 0, n+1), first)
	for range n {
		before := uint64(group[len(group)-1])
		doc := before + r.number(most-1-before)
		if doc == before {
			r.fail()
			break
		}
		group = append(group, uint32(doc))
	}
	return group
}
