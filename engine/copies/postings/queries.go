package postings

import (
	"context"
	"iter"
	"math/bits"
	"slices"
	"sync/atomic"
)

// blockSize is about how many postings a block of queries has at most: those of one block fit a cache.
const blockSize = 1 << 16

// divide divides the queries into blocks, and returns how many these are.
func (x *slice) divide() int {
	most := uint64(1)
	for rank := x.from; rank < x.docs.to; rank++ {
		most += x.prefixes.foundBy(rank)
	}
	queries := x.docs.to - x.from
	blocks := int(most/min(blockSize, x.o.most(queryShare, 4*queryBytes)+1)) + 1
	x.shift = bits.Len(uint(queries / blocks))
	return (queries-1)>>x.shift + 1
}

// queries returns ranges of the queries, as many at a time as there is memory for, whose sets are made.
func (x *slice) queries(ctx context.Context) iter.Seq2[span, error] {
	return func(yield func(span, error) bool) {
		sizes := x.blockSizes()
		most := x.o.most(queryShare, queryBytes)
		for from := 0; from < len(sizes); {
			to, sum := from+1, sizes[from]
			for ; to < len(sizes) && sum+sizes[to] <= most; to++ {
				sum += sizes[to]
			}
			err := x.ask(ctx, sizes[:to], from)
			if !yield(x.asked, err) || err != nil {
				return
			}
			from = to
		}
	}
}

// blockSizes returns how many postings each block has.
func (x *slice) blockSizes() []uint64 {
	sizes := make([]uint64, len(x.parts[0].blocks))
	for _, part := range x.parts {
		for i, n := range part.blocks {
			sizes[i] += n
		}
	}
	return sizes
}

// ask makes the sets of the queries from one block up to the last of sizes: it scatters the postings by blocks of queries, in order of the
// numbers, and then puts those of each block in order of the queries, in the cache.
func (x *slice) ask(ctx context.Context, sizes []uint64, from int) error {
	x.asked = span{x.from + from<<x.shift, min(x.from+len(sizes)<<x.shift, x.docs.to)}
	ends, total := make([]uint64, len(sizes)), uint64(0)
	for block := from; block < len(sizes); block++ {
		total += sizes[block]
		ends[block] = total
	}
	n := x.asked.to - x.asked.from
	x.sets.ends = slices.Grow(x.sets.ends[:0], n)[:n]
	clear(x.sets.ends)
	x.sets.values = slices.Grow(x.sets.values[:0], int(total))[:total]
	x.postings = slices.Grow(x.postings[:0], int(total))[:total]
	err := fork(len(x.parts), func(thread int) error { return x.scatter(ctx, thread, sizes, ends, from) })
	if err != nil {
		return err
	}
	next := atomic.Int64{}
	next.Store(int64(from))
	return fork(len(x.parts), func(int) error {
		for block := int(next.Add(1)) - 1; block < len(sizes); block = int(next.Add(1)) - 1 {
			x.block(x.postings[ends[block]-sizes[block]:ends[block]], ends[block]-sizes[block], (block-from)<<x.shift)
		}
		return ctx.Err()
	})
}

// scatter puts a thread's postings of the range into their blocks, behind those of the threads before it, whose numbers are lower.
func (x *slice) scatter(ctx context.Context, thread int, sizes, ends []uint64, from int) error {
	places := make([]uint64, len(sizes)-from) // of the next posting of each block
	for i := range places {
		places[i] = ends[from+i] - sizes[from+i]
		for _, part := range x.parts[:thread] {
			places[i] += part.blocks[from+i]
		}
	}
	part := &x.parts[thread]
	number := uint64(part.lists)
	return x.each(ctx, part.pieces, func(all, _ []uint32) {
		for _, posting := range all[:len(all)-1] {
			query := int(posting>>rankShift) - x.asked.from
			if posting&findsBit != 0 && uint(query) < uint(len(x.sets.ends)) {
				at := &places[query>>x.shift]
				x.postings[*at] = uint64(query)<<32 | number
				*at++
			}
		}
		number++
	})
}

// block makes the sets of a block's queries, the first of which is the first-th of the range, where those of the blocks before end.
func (x *slice) block(postings []uint64, at uint64, first int) {
	ends := x.sets.ends[first:min(first+1<<x.shift, len(x.sets.ends))]
	for _, p := range postings {
		ends[int(p>>32)-first]++
	}
	for i, n := range ends {
		ends[i] = uint32(at) // where the set begins, for now
		at += uint64(n)
	}
	for _, p := range postings {
		end := &ends[int(p>>32)-first]
		x.sets.values[*end] = uint32(p)
		*end++
	}
}
