package postings

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/index/radix"
)

// rankedSets are the distinct sets of a Builder.
type rankedSets struct {
	docs    []uint32   // first document of each distinct set, in order of size; no empty sets
	equal   [][]uint32 // groups of documents with equal sets, in order of their first documents
	builder *Builder
}

// rank finds the distinct sets and sorts them by size.
func (b *Builder) rank(ctx context.Context, threads int) (*rankedSets, error) {
	s := &rankedSets{builder: b}
	// Find the largest set, which determines the bits of a size.
	largest, last := uint64(0), uint64(0)
	for _, end := range b.ends {
		largest, last = max(largest, end-last), end
	}
	if largest > math.MaxInt32 {
		return nil, ErrTooMany
	}
	threads, shift := max(threads, 1), bits.LeadingZeros64(largest)
	// Make a key of each set: its size and a hash.
	keys := make([]uint64, len(b.ends)) // size of each set in the leading bits, then a hash
	err := fork(threads, func(thread int) error {
		for doc := len(keys) * thread / threads; doc < len(keys)*(thread+1)/threads; doc++ {
			sum := uint64(0)
			for _, hash := range b.set(uint32(doc)) {
				sum += (hash ^ hash>>32) * 0xff51afd7ed558ccd >> 7 // a sum does not depend on the order
			}
			size := uint64(b.size(uint32(doc)))
			keys[doc] = size<<shift | signature.Fold(size, sum)>>(64-shift)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Sort the keys, and compare the sets with equal keys.
	sorted, docs := make([]uint64, len(keys)), make([]uint32, len(keys))
	o := radix.Options{Mask: leadingMask, Threads: threads}
	if err = radix.SortRows(ctx, sorted, docs, radix.Chunks{keys}, o); err != nil {
		return nil, err
	}
	for from, to := 0, 0; from < len(docs); from = to {
		for to = from + 1; to < len(docs) && sorted[to] == sorted[from]; to++ {
		}
		if b.size(docs[from]) > 0 {
			s.group(docs[from:to])
		}
	}
	slices.SortFunc(s.equal, func(x, y []uint32) int { return cmp.Compare(x[0], y[0]) })
	return s, nil
}

// group adds documents with the same key, in order. It adds the first one of each distinct set to docs.
func (s *rankedSets) group(docs []uint32) {
	if len(docs) == 1 {
		s.docs = append(s.docs, docs[0])
		return
	}
	var groups [][]uint32
	for _, doc := range docs {
		index := slices.IndexFunc(groups, func(g []uint32) bool { return slices.Equal(s.builder.set(g[0]), s.builder.set(doc)) })
		if index < 0 {
			groups = append(groups, []uint32{doc})
			continue
		}
		groups[index] = append(groups[index], doc)
	}
	for _, g := range groups {
		s.docs = append(s.docs, g[0])
		if len(g) > 1 {
			s.equal = append(s.equal, g)
		}
	}
}

// expand adds the pairs of documents with equal sets. A group with more than Options.MaxEqual documents has
// only the pairs of its first document. A pair of distinct sets becomes the pairs of all their listed documents.
func (b *Builder) expand(equal [][]uint32, pairs []Pair, o *Options, r *Report) ([]Pair, error) {
	if len(equal) == 0 {
		return pairs, nil
	}
	// Pair the documents of each group of equal sets.
	members := make(map[uint32][]uint32, len(equal)) // listed documents of each group, by its first document
	var expanded []Pair
	tooMany := func() bool { return o.MaxPairs > 0 && uint64(len(expanded)) > o.MaxPairs }
	for _, group := range equal {
		firsts := group
		if len(group) > o.MaxEqual {
			firsts = group[:1]
			r.Unlisted += len(group) - 1
		}
		members[group[0]] = firsts
		size := int32(b.size(group[0]))
		if tooMany() { // a group adds at most MaxEqual^2 / 2 pairs
			return nil, &TooManyPairsError{o.MaxPairs}
		}
		for i, a := range firsts {
			for _, b := range group[i+1:] {
				if o.isWanted(a, b) {
					expanded = append(expanded, Pair{a, b, size, size, size})
				}
			}
		}
	}
	// Expand each pair of distinct sets to the documents of both groups.
	all := func(doc uint32) []uint32 {
		if group := members[doc]; group != nil {
			return group
		}
		return []uint32{doc}
	}
	for _, p := range pairs {
		if tooMany() {
			return nil, &TooManyPairsError{o.MaxPairs}
		}
		for _, x := range all(p.A) {
			for _, y := range all(p.B) {
				if o.isWanted(x, y) {
					expanded = append(expanded, Pair{x, y, p.SizeA, p.SizeB, p.Shared}.ordered())
				}
			}
		}
	}
	return expanded, nil
}
