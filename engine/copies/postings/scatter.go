package postings

import (
	"context"
	"math/bits"
	"sync/atomic"

	"ndd/engine/memory"
)

const (
	// partitionSize is about how many signatures a partition has: with the table that finds equal ones among them they fit a
	// cache of 2 MiB.
	partitionSize = 1 << 15

	// roundSize is how many signatures are scattered at a time where a limit of memory, of which they take one in scatterShare, is not less:
	// memory that was never used before costs more than to read the sets again.
	roundSize      = 24 << 20
	scatterShare   = 4
	scatteredBytes = 8 + 4
)

// A scatter puts signatures with the same leading bits together, each with the rank of its document, so that equal ones are found
// in the cache. It does so in rounds, of as many partitions as there is room for; each reads the sets again. Each thread has a range of
// the documents, and a place of its own in each partition, so that these are in order of the documents.
type scatter struct {
	source
	shift  int        // of a signature, to its partition
	ranges []span     // of documents, by thread
	counts [][]uint64 // by thread and partition: signatures
	sizes  []uint64   // by partition
	taken  []uint32   // by document: signatures that earlier rounds had; nil: there is one round alone

	hashes *memory.Buffer[uint64] // of a round, by partition and thread
	ranks  *memory.Buffer[uint32] // of their documents
}

// newScatter counts what each partition has, and makes room for rounds of so many signatures, but at least of one partition. What it
// returns must be freed, after an error, too.
func newScatter(ctx context.Context, s source, threads int, room uint64) (*scatter, error) {
	c := &scatter{source: s, shift: 64 - max(bits.Len64(s.total()/partitionSize), 1), counts: make([][]uint64, threads)}
	c.ranges = spans(len(s.ends), threads, s.total(), func(doc int) uint64 { return uint64(s.size(uint32(doc))) })
	partitions := 1 << (64 - c.shift)
	err := fork(threads, func(thread int) error {
		counts := make([]uint64, partitions)
		c.counts[thread] = counts
		return s.each(ctx, c.ranges[thread], func(_ int, set []uint64) {
			for _, hash := range set {
				counts[hash>>(c.shift&63)]++
			}
		})
	})
	if err != nil {
		return c, err
	}
	c.sizes = make([]uint64, partitions)
	sum := uint64(0)
	for p := range c.sizes {
		for _, counts := range c.counts {
			c.sizes[p] += counts[p]
		}
		room = max(room, c.sizes[p])
		sum += c.sizes[p]
	}
	if sum > room {
		c.taken = make([]uint32, len(s.ends))
	}
	if c.hashes, err = memory.Make[uint64](int(min(sum, room))); err == nil {
		c.ranks, err = memory.Make[uint32](int(min(sum, room)))
	}
	return c, err
}

// free gives the memory back. It may be called on nil.
func (c *scatter) free() {
	if c != nil {
		c.hashes.Free()
		c.ranks.Free()
	}
}

// rounds scatters the partitions, as many at a time as there is room for, and calls f with each, on each thread at the same time and in no
// order.
func (c *scatter) rounds(ctx context.Context, f func(thread, partition int, hashes []uint64, ranks []uint32) error) error {
	for from := 0; from < len(c.sizes); {
		starts := []uint64{0} // of the round's partitions
		to := from
		for ; to < len(c.sizes) && starts[to-from]+c.sizes[to] <= uint64(len(c.hashes.Data)); to++ {
			starts = append(starts, starts[to-from]+c.sizes[to])
		}
		if err := c.round(ctx, span{from, to}, starts); err != nil {
			return err
		}
		var next atomic.Int64
		err := fork(len(c.ranges), func(thread int) error {
			for i := int(next.Add(1)) - 1; i < to-from; i = int(next.Add(1)) - 1 {
				a, b := starts[i], starts[i+1]
				if err := f(thread, from+i, c.hashes.Data[a:b], c.ranks.Data[a:b]); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// round scatters some partitions, each to where it starts.
func (c *scatter) round(ctx context.Context, partitions span, starts []uint64) error {
	return fork(len(c.ranges), func(thread int) error {
		places := make([]uint64, partitions.to-partitions.from) // of the next signature of each
		for i := range places {
			places[i] = starts[i]
			for _, counts := range c.counts[:thread] {
				places[i] += counts[partitions.from+i]
			}
		}
		hashes, ranks, shift := c.hashes.Data, c.ranks.Data, c.shift&63
		return c.each(ctx, c.ranges[thread], func(doc int, set []uint64) {
			rank := c.source.ranks[doc]
			if c.taken != nil {
				set = set[c.taken[doc]:]
			}
			for i, hash := range set {
				p := int(hash>>shift) - partitions.from
				if p >= len(places) {
					set = set[:i]
					break
				}
				at := places[p]
				places[p]++
				hashes[at], ranks[at] = hash, rank
			}
			if c.taken != nil {
				c.taken[doc] += uint32(len(set))
			}
		})
	})
}
