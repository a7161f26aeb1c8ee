package postings

import (
	"cmp"
	"slices"

	"golang.org/x/sync/errgroup"

	"example.org/ndd/engine/storage/store"
)

// leadingMask lets package radix sort whole numbers.
const leadingMask = 0xffffffff << 32

// rowMap maps rows of sorted signatures to documents.
type rowMap struct {
	ends  []uint64 // end of the rows of each document
	index []uint32 // index of each document
	first []uint32 // document of every rowStep-th row
}

const rowStep = 64

// rows returns the map of the rows of some documents.
func (b *Builder) rows(docs []uint32) *rowMap {
	r := &rowMap{index: make([]uint32, len(docs))}
	for i := range r.index {
		r.index[i] = uint32(i)
	}
	slices.SortFunc(r.index, func(x, y uint32) int { return cmp.Compare(docs[x], docs[y]) })
	sum := uint64(0)
	for i, position := range r.index {
		sum += uint64(b.size(docs[position]))
		r.ends = append(r.ends, sum)
		for uint64(len(r.first))*rowStep < sum {
			r.first = append(r.first, uint32(i))
		}
	}
	return r
}

// document returns the index of the document that a row belongs to.
func (r *rowMap) document(row uint64) uint32 {
	i := r.first[row/rowStep]
	for r.ends[i] <= row {
		i++
	}
	return r.index[i]
}

// fork calls f with 0 to threads - 1 in goroutines. It returns the first error. Faults of mapped files are errors.
func fork(threads int, f func(thread int) error) error {
	var group errgroup.Group
	for thread := range threads {
		group.Go(func() (err error) {
			defer store.EndFaults(store.BeginFaults(), &err)
			return f(thread)
		})
	}
	return group.Wait()
}
