package postings

import (
	"context"
	"sort"
)

// A slice is the index of some documents, ranks from one up to another, and the documents that may be similar to them, range by range.
type slice struct {
	docs  span
	lists csr // by number of a signature: ranks of documents of the slice that are found by it

	asked span // the range of queries
	sets  csr  // by query of the range: numbers of signatures that it finds others by

	prefixes *prefixes
	o        *Options
	parts    []part // of the prefixes' pieces, by thread
	from     int    // the first query
	shift    int    // of a query, to its block
	postings []uint64
}

// csr are lists of numbers, one behind the other.
type csr struct {
	ends   []uint32
	values []uint32
}

func (c *csr) at(i int) []uint32 { return c.values[c.begin(i):c.ends[i]] }

func (c *csr) begin(i int) uint32 {
	if i == 0 {
		return 0
	}
	return c.ends[i-1]
}

// A part is the pieces of a thread, how many lists of the slice and documents of these come before its first, and how many postings of queries it
// has in each block.
type part struct {
	pieces        span
	lists, values int
	blocks        []uint64
}

// newSlice makes the lists of a slice. Sizes are those of all documents.
func (p *prefixes) newSlice(ctx context.Context, docs span, sizes []uint32, o *Options) (*slice, error) {
	x := &slice{docs: docs, prefixes: p, o: o, parts: make([]part, o.Threads)}
	smallest := int(sizes[docs.from])
	x.from = sort.Search(docs.from, func(i int) bool { return o.largest(int(sizes[i])) >= smallest })
	for t := range x.parts {
		x.parts[t].pieces = span{p.count * t / o.Threads, p.count * (t + 1) / o.Threads}
	}
	if err := x.count(ctx); err != nil {
		return nil, err
	}
	lists, values := 0, 0
	for t := range x.parts {
		part := &x.parts[t]
		part.lists, lists = lists, lists+part.lists
		part.values, values = values, values+part.values
	}
	x.lists = csr{make([]uint32, lists), make([]uint32, values)}
	return x, fork(o.Threads, func(thread int) error {
		part := &x.parts[thread]
		list, at := part.lists, part.values
		return x.each(ctx, part.pieces, func(_, own []uint32) {
			for _, posting := range own {
				x.lists.values[at] = posting >> rankShift
				at++
			}
			x.lists.ends[list] = uint32(at)
			list++
		})
	})
}

// count counts what each part has.
func (x *slice) count(ctx context.Context) error {
	blocks := x.divide()
	return fork(len(x.parts), func(thread int) error {
		part := &x.parts[thread]
		part.blocks = make([]uint64, blocks)
		return x.each(ctx, part.pieces, func(all, own []uint32) {
			part.lists++
			part.values += len(own)
			for _, posting := range all[:len(all)-1] {
				if query := int(posting>>rankShift) - x.from; query >= 0 {
					part.blocks[query>>x.shift] += uint64(posting & findsBit)
				}
			}
		})
	})
}

// each calls f with the lists of some pieces that documents of the slice are found by: the whole list up to the last of them, and these.
func (x *slice) each(ctx context.Context, pieces span, f func(all, own []uint32)) error {
	least, whole := uint32(x.docs.from)<<rankShift, x.docs.to == len(x.prefixes.limits)
	return x.prefixes.each(ctx, pieces, func(list []uint32) {
		from, to := 0, len(list)
		if list[0] < least {
			if list[to-1] < least {
				return
			}
			from = after(list, least)
		}
		if !whole {
			to = after(list, uint32(x.docs.to)<<rankShift)
		}
		if from < to {
			f(list[:to], list[from:to])
		}
	})
}

// after returns the first posting of a list that is at least this one.
func after(list []uint32, least uint32) int {
	const few = 8
	if len(list) > few {
		return sort.Search(len(list), func(i int) bool { return list[i] >= least })
	}
	for i, posting := range list {
		if posting >= least {
			return i
		}
	}
	return len(list)
}
