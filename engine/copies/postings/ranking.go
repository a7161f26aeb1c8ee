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

// A ranking is the documents that are compared, in order of their sizes.
type ranking struct {
	docs  []uint32   // by rank: the document; of equal ones the first alone
	equal [][]uint32 // documents with equal sets, each group in order of the documents
	empty int        // documents without signatures

	partitions *partitioning // of the signatures of docs
}

// rank orders documents by size, and then by number, leaving out empty ones and all but the first of equal ones.
func (b *Builder) rank(ctx context.Context, threads int) (r ranking, err error) {
	r.partitions = b.partitioning(max(threads, 1))
	if len(b.ends) == 0 {
		return r, nil
	}
	keys, err := b.keys(r.partitions)
	if err != nil {
		return r, err
	}
	var pairs []radix.Pair // of one key
	more := func(next []radix.Pair) error {
		for _, p := range next {
			if len(pairs) > 0 && pairs[0][0] != p[0] {
				b.group(&r, pairs)
				pairs = pairs[:0]
			}
			pairs = append(pairs, p)
		}
		return nil
	}
	o := radix.Options{Mask: leadingMask, Threads: max(threads, 1)}
	if err := radix.WalkPairs(ctx, radix.Chunks{keys}, o, more); err != nil {
		return r, err
	}
	b.group(&r, pairs)
	slices.SortFunc(r.equal, func(x, y []uint32) int { return cmp.Compare(x[0], y[0]) })
	for _, group := range r.equal {
		for _, doc := range group[1:] {
			r.partitions.forget(doc, b.set(doc))
		}
	}
	return r, b.bySize(ctx, r.docs, threads)
}

// keys returns a number for each document that is the same for equal sets, and hardly ever for others, and counts what partitions have.
func (b *Builder) keys(p *partitioning) ([]uint64, error) {
	keys := make([]uint64, len(b.ends))
	err := fork(len(p.ranges), func(thread int) error {
		counts, shift := p.counts[thread], p.shift&63
		for doc := p.ranges[thread].from; doc < p.ranges[thread].to; doc++ {
			sum := uint64(0)
			for _, hash := range b.set(uint32(doc)) {
				sum += (hash ^ hash>>32) * 0xff51afd7ed558ccd >> 7 // the order of a sum does not count, nor does it in a set
				counts[hash>>shift]++
			}
			keys[doc] = signature.Fold(uint64(b.size(uint32(doc))), sum)
		}
		return nil
	})
	return keys, err
}

// bySize orders documents by size, and then by number.
func (b *Builder) bySize(ctx context.Context, docs []uint32, threads int) error {
	wanted, largest := make([]bool, len(b.ends)), 0
	for _, doc := range docs {
		wanted[doc] = true
	}
	for doc := range b.ends {
		largest = max(largest, b.size(uint32(doc)))
	}
	if uint64(largest) > math.MaxUint32 {
		return ErrTooMany
	}
	shift := bits.LeadingZeros32(uint32(largest)) + 32 // of sizes, to the leading bits
	keys := make([]uint64, 0, len(docs))
	for doc, yes := range wanted { // in order, as their ends lie
		if yes {
			keys = append(keys, uint64(b.size(uint32(doc)))<<shift|uint64(doc))
		}
	}
	sorted := make([]uint64, len(docs))
	o := radix.Options{Mask: leadingMask, Threads: max(threads, 1)}
	err := radix.SortKeys(ctx, sorted, radix.Chunks{keys}, o)
	for i, key := range sorted {
		docs[i] = uint32(key)
	}
	return err
}

// leadingMask leaves the order of numbers as it is.
const leadingMask = 0xffffffff << 32

// group takes the documents of one key, in order: the first of each set stands for all that are equal to it.
func (b *Builder) group(r *ranking, pairs []radix.Pair) {
	if len(pairs) == 1 && b.size(uint32(pairs[0][1])) > 0 {
		r.docs = append(r.docs, uint32(pairs[0][1]))
		return
	}
	var groups [][]uint32
	for _, p := range pairs {
		doc := uint32(p[1])
		if b.size(doc) == 0 {
			r.empty++
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

// frequencies calls yield with each signature of sets and the number of these that have it, in order of the signatures. Room is
// how many signatures are sorted at a time, 0 for all.
func frequencies(ctx context.Context, sets [][]uint64, threads, room int, yield func(hash uint64, documents int)) error {
	last, n := uint64(0), 0
	o := radix.Options{Mask: leadingMask, Threads: max(threads, 1), Room: room}
	err := radix.WalkKeys(ctx, radix.Chunks(sets), o, func(keys []uint64) error {
		for _, k := range keys {
			if n > 0 && k != last {
				yield(last, n)
				n = 0
			}
			last = k
			n++
		}
		return nil
	})
	if err == nil && n > 0 {
		yield(last, n)
	}
	return err
}
