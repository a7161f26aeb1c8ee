package postings

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"ndd/engine/copies/signature"
	"ndd/engine/index/radix"
)

// A ranking is the documents that are compared, in order of size.
type ranking struct {
	docs  []uint32   // by rank: the document; of equal ones the first alone
	equal [][]uint32 // documents with equal sets, each group in order of the documents
}

// leadingMask is the mask that leaves the order of numbers unchanged.
const leadingMask = 0xffffffff << 32

// rank orders documents by size, and then by number, without empty ones and all but the first of
// equal ones.
func (b *Builder) rank(ctx context.Context, threads int) (r ranking, err error) {
	if len(b.ends) == 0 {
		return r, nil
	}
	threads = max(threads, 1)
	keys := make([]uint64, len(b.ends)) // a hash of each set
	err = fork(threads, func(thread int) error {
		for doc := len(keys) * thread / threads; doc < len(keys)*(thread+1)/threads; doc++ {
			sum := uint64(0)
			for _, hash := range b.set(uint32(doc)) {
				sum += (hash ^ hash>>32) * 0xff51afd7ed558ccd >> 7 // neither a sum nor a set has an order
			}
			keys[doc] = signature.Fold(uint64(b.size(uint32(doc))), sum)
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	sorted, docs := make([]uint64, len(keys)), make([]uint32, len(keys))
	o := radix.Options{Mask: leadingMask, Threads: threads}
	if err = radix.SortRows(ctx, sorted, docs, radix.Chunks{keys}, o); err != nil {
		return r, err
	}
	for from, to := 0, 0; from < len(docs); from = to {
		for to = from + 1; to < len(docs) && sorted[to] == sorted[from]; to++ {
		}
		b.group(&r, docs[from:to])
	}
	slices.SortFunc(r.equal, func(x, y []uint32) int { return cmp.Compare(x[0], y[0]) })
	return r, b.bySize(ctx, r.docs, threads)
}

// group adds the documents of one key, in order; the first of each set stands for its equals.
func (b *Builder) group(r *ranking, docs []uint32) {
	if len(docs) == 1 && b.size(docs[0]) > 0 {
		r.docs = append(r.docs, docs[0])
		return
	}
	var groups [][]uint32
	for _, doc := range docs {
		if b.size(doc) == 0 {
			continue
		}
		at := slices.IndexFunc(groups, func(g []uint32) bool { return slices.Equal(b.set(g[0]), b.set(doc)) })
		if at < 0 {
			groups = append(groups, []uint32{doc})
			continue
		}
		groups[at] = append(groups[at], doc)
	}
	for _, g := range groups {
		r.docs = append(r.docs, g[0])
		if len(g) > 1 {
			r.equal = append(r.equal, g)
		}
	}
}

// bySize orders documents by size, and then by number.
func (b *Builder) bySize(ctx context.Context, docs []uint32, threads int) error {
	keys, largest := make([]uint64, len(docs)), 0
	for _, doc := range docs {
		largest = max(largest, b.size(doc))
	}
	if largest > math.MaxInt32 {
		return ErrTooMany
	}
	shift := bits.LeadingZeros32(uint32(largest)) + 32 // of sizes, to the leading bits
	for i, doc := range docs {
		keys[i] = uint64(b.size(doc))<<shift | uint64(doc)
	}
	sorted := make([]uint64, len(docs))
	err := radix.SortKeys(ctx, sorted, radix.Chunks{keys}, radix.Options{Mask: leadingMask, Threads: threads})
	for i, key := range sorted {
		docs[i] = uint32(key)
	}
	return err
}

// expand puts the documents of a group of equal ones where its first stands, and adds the pairs of
// each group: all of them or, of more documents than most, the first with each.
func (b *Builder) expand(equal [][]uint32, pairs []Pair, most int, r *Report) []Pair {
	if len(equal) == 0 {
		return pairs
	}
	members := make(map[uint32][]uint32, len(equal)) // by first document: those to list
	var expanded []Pair
	for _, group := range equal {
		firsts := group
		if len(group) > most {
			firsts = group[:1]
			r.Unlisted += len(group) - 1
		}
		members[group[0]] = firsts
		size := b.size(group[0])
		for i, a := range firsts {
			for _, b := range group[i+1:] {
				expanded = append(expanded, Pair{a, b, size, size, size})
			}
		}
	}
	all := func(doc uint32) []uint32 {
		if group := members[doc]; group != nil {
			return group
		}
		return []uint32{doc}
	}
	for _, p := range pairs {
		for _, x := range all(p.A) {
			for _, y := range all(p.B) {
				expanded = append(expanded, Pair{x, y, p.SizeA, p.SizeB, p.Shared}.ordered())
			}
		}
	}
	return expanded
}
