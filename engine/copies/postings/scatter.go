package postings

import (
	"context"
	"sync/atomic"
)

const (
	// roundSize is how many signatures are scattered at a time where the memory has room for them: to use more costs more than to read the
	// sets again.
	roundSize      = 24 << 20
	scatteredBytes = 8 + 4
)

// A scatter puts signatures with the same leading bits together, each with the rank of its document, so that equal ones are found
// in the cache. It does so in rounds, of as many partitions as there is room for; each reads the sets again. Each thread has a range of
// the documents, and a place of its own in each partition, so that these are in order of the documents.
type scatter struct {
	source
	*partitioning
	sizes []uint64 // by partition
	taken []uint32 // by document: signatures that earlier rounds had; nil: there is one round alone

	scattered []scattered // of a round, by partition and thread
}

// A scattered signature is one of the document of a rank. All is in one place, so that the processor has half as many places to write to.
type scattered struct{ low, high, rank uint32 }

func (s *scattered) hash() uint64 { return uint64(s.low) | uint64(s.high)<<32 }

// newScatter makes room for rounds of so many signatures, but at least of one partition.
func newScatter(s source, p *partitioning, room uint64) *scatter {
	c := &scatter{source: s, partitioning: p, sizes: p.sizes()}
	sum := uint64(0)
	for _, size := range c.sizes {
		room = max(room, size)
		sum += size
	}
	if sum > room {
		c.taken = make([]uint32, len(s.ends))
	}
	// In the heap, which has most likely been larger before: memory that the system has to clear costs more than the pages' size saves.
	c.scattered = make([]scattered, min(sum, room))
	return c
}

// rounds scatters the partitions, as many at a time as there is room for, and calls f with each, on each thread at the same time and in no
// order.
func (c *scatter) rounds(ctx context.Context, f func(thread, partition int, signatures []scattered) error) error {
	for from := 0; from < len(c.sizes); {
		starts := []uint64{0} // of the round's partitions
		to := from
		for ; to < len(c.sizes) && starts[to-from]+c.sizes[to] <= uint64(len(c.scattered)); to++ {
			starts = append(starts, starts[to-from]+c.sizes[to])
		}
		if err := c.round(ctx, span{from, to}, starts); err != nil {
			return err
		}
		var next atomic.Int64
		err := fork(len(c.ranges), func(thread int) error {
			for i := int(next.Add(1)) - 1; i < to-from; i = int(next.Add(1)) - 1 {
				a, b := starts[i], starts[i+1]
				if err := f(thread, from+i, c.scattered[a:b]); err != nil {
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
		all, shift := c.scattered, c.shift&63
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
				all[at] = scattered{uint32(hash), uint32(hash >> 32), rank}
			}
			if c.taken != nil {
				c.taken[doc] += uint32(len(set))
			}
		})
	})
}
