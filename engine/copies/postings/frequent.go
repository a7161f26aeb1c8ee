package postings

import (
	"context"
	"math/bits"
	"slices"
)

// sortedBytes is the memory of a signature while it is sorted.
const sortedBytes = 32

// frequent returns the signatures of more than o.MaxDocuments documents, ascending, and counts the documents that are
// touched by that.
func (b *Builder) frequent(ctx context.Context, docs []uint32, o *Options, r *Report) (hashes []uint64, err error) {
	if len(docs) <= o.MaxDocuments {
		return nil, nil
	}
	sets, err := b.perhapsFrequent(ctx, docs, o)
	if err != nil {
		return nil, err
	}
	err = frequencies(ctx, sets, o.Threads, int(o.MemoryBytes/sortedBytes), func(hash uint64, documents int) {
		if documents > o.MaxDocuments {
			hashes = append(hashes, hash)
		}
	})
	r.Common = len(hashes)
	if err != nil || len(hashes) == 0 {
		return nil, err
	}
	var common []uint32
	for _, doc := range docs {
		common = appendCommon(common[:0], b.set(doc), hashes)
		if size := b.size(doc); size-o.least(size)+1 > size-len(common) {
			r.Frequent++
		}
	}
	return hashes, nil
}

// perhapsFrequent returns the signatures of documents without most of those that o.MaxDocuments documents or fewer have: of all signatures
// that share a counter, which are as many as it says or fewer. So next to none are left to sort where none is frequent.
func (b *Builder) perhapsFrequent(ctx context.Context, docs []uint32, o *Options) ([][]uint64, error) {
	// Of the counters one in eight would be full of signatures that are not frequent, if these were spread evenly, and none is.
	const logLeast, logMost = 8, 20
	log := min(max(bits.Len64(8*b.total()/uint64(o.MaxDocuments+1)), logLeast), logMost)
	counters := make([][]uint64, o.Threads)
	all := span{0, len(b.hashes)}
	err := fork(o.Threads, func(thread int) error {
		counters[thread] = make([]uint64, 1<<log)
		part := all.part(thread, o.Threads)
		for _, hash := range b.hashes[part.from:part.to] {
			counters[thread][spread(hash)>>(64-log)&(1<<log-1)]++
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	full := false
	for i := range counters[0] {
		for _, other := range counters[1:] {
			counters[0][i] += other[i]
		}
		full = full || counters[0][i] > uint64(o.MaxDocuments)
	}
	if !full {
		return nil, nil
	}
	var some []uint64
	for _, doc := range docs {
		for _, hash := range b.set(doc) {
			if counters[0][spread(hash)>>(64-log)] > uint64(o.MaxDocuments) {
				some = append(some, hash)
			}
		}
		if most := b.total() / 8; uint64(len(some)) > most {
			return b.chunks(docs), ctx.Err()
		}
	}
	return [][]uint64{some}, ctx.Err()
}

// appendCommon appends those places in hashes, ascending, that a set has.
func appendCommon(dst []uint32, set, hashes []uint64) []uint32 {
	for _, hash := range set {
		if i, ok := slices.BinarySearch(hashes, hash); ok {
			dst = append(dst, uint32(i))
		}
	}
	return dst
}
