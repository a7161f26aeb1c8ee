package postings

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ndd/engine/storage/store"
)

// shared is the signatures that several documents have, as the ranks of these.
type shared struct {
	mu    sync.Mutex
	ranks array[uint32]
	runs  []run // the signatures of the most documents first
}

// A run is signatures of the same number of documents, whose ranks follow each other in
// shared.ranks.
type run struct {
	documents uint32
	from, to  uint64
}

// shared finds the signatures that several of the documents have, partition by partition.
func (b *Builder) shared(ctx context.Context, docs []uint32, o *Options) (*shared, error) {
	c := b.newScatter(docs, o.Threads)
	s := &shared{ranks: array[uint32]{room: b.scratch(o.share(resultShare))}}
	groupers, runs := make([]grouper, o.Threads), make([][]run, len(c.sizes))
	room := uint64(roundSize)
	if o.MemoryBytes > 0 {
		room = min(room, o.share(scatterShare)/scatteredBytes)
	}
	err := c.rounds(ctx, room, func(thread, partition int, signatures []scattered) error {
		classes, ranks, err := groupers[thread].group(signatures)
		s.mu.Lock()
		defer s.mu.Unlock()
		at := s.ranks.count
		for _, c := range classes {
			end := at + uint64(c.documents)*uint64(c.signatures)
			runs[partition] = append(runs[partition], run{c.documents, at, end})
			at = end
		}
		s.ranks.append(ranks)
		return err
	})
	if err = cmp.Or(err, s.ranks.seal()); err != nil {
		return nil, errors.Join(err, s.ranks.close())
	}
	s.runs = slices.Concat(runs...)
	slices.SortStableFunc(s.runs, func(x, y run) int { return cmp.Compare(y.documents, x.documents) })
	return s, nil
}

// each calls f with the ranks of each signature, the most frequent first, until f returns an error.
func (s *shared) each(ctx context.Context, f func(ranks []uint32) error) error {
	for _, run := range s.runs {
		list := s.ranks.all[run.from:run.to]
		for n := int(run.documents); len(list) > 0; list = list[n:] {
			if err := f(list[:n]); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// scratch returns a Room with a limit of bytes, 0 for none, in the place of the sets' Room.
func (b *Builder) scratch(bytes uint64) Room {
	r := b.hashes.room
	r.Bytes = bytes
	return r
}

const (
	// partitionSize is the approximate number of signatures of a partition: with the tables of a
	// grouper they fit a cache of 2 MiB.
	partitionSize = 1 << 15
	// roundSize is how many signatures are scattered at a time where the memory has room for them:
	// to use more costs more than to read the sets again.
	roundSize      = 24 << 20
	scatteredBytes = 8 + 4
)

// A scatter groups signatures with the same leading bits, each with the rank of its document, so
// that equal ones are found in the cache. It does so in rounds of as many partitions as fit the
// memory; each reads the sets again. Each thread has a part of the documents and a place in each
// partition, so that these are in order of the documents.
type scatter struct {
	*Builder
	ranks  []uint32   // by document; none: it is not among them
	shift  int        // of a signature, to its partition
	counts [][]uint64 // by thread and partition: signatures
	sizes  []uint64   // by partition
}

// A scattered is a signature of the document of a rank, in one struct, so that the processor writes
// to half as many places.
type scattered struct{ low, high, rank uint32 }

func (s *scattered) hash() uint64 { return uint64(s.low) | uint64(s.high)<<32 }

const none = math.MaxUint32

// newScatter makes a scatter of the documents and counts their signatures.
func (b *Builder) newScatter(docs []uint32, threads int) *scatter {
	c := &scatter{Builder: b, ranks: slices.Repeat([]uint32{none}, len(b.ends)), counts: make([][]uint64, threads)}
	for rank, doc := range docs {
		c.ranks[doc] = uint32(rank)
	}
	partitions := bits.Len64(b.hashes.count / partitionSize)
	c.shift, c.sizes = 64-max(partitions, 1), make([]uint64, 1<<max(partitions, 1))
	fork(threads, func(thread int) error {
		counts, shift := make([]uint64, len(c.sizes)), c.shift&63
		c.each(thread, func(_ uint32, set []uint64) {
			for _, hash := range set {
				counts[hash>>shift]++
			}
		})
		c.counts[thread] = counts
		return nil
	})
	for i := range c.sizes {
		for _, counts := range c.counts {
			c.sizes[i] += counts[i]
		}
	}
	return c
}

// each calls f with the documents of a thread that are compared.
func (c *scatter) each(thread int, f func(rank uint32, set []uint64)) {
	n := len(c.ranks)
	for doc := n * thread / len(c.counts); doc < n*(thread+1)/len(c.counts); doc++ {
		if rank := c.ranks[doc]; rank != none {
			f(rank, c.set(uint32(doc)))
		}
	}
}

// rounds scatters the partitions, as many at a time as room signatures, and calls f with each,
// concurrently and in no order.
func (c *scatter) rounds(ctx context.Context, room uint64,
	f func(thread, partition int, signatures []scattered) error) error {
	sum := uint64(0)
	for _, size := range c.sizes {
		room = max(room, size)
		sum += size
	}
	// In the heap, which has most likely been larger before: memory that the system has to clear
	// costs more than the pages' size saves.
	all := make([]scattered, min(sum, room))
	for from := 0; from < len(c.sizes); {
		starts := []uint64{0} // of the round's partitions
		to := from
		for ; to < len(c.sizes) && starts[to-from]+c.sizes[to] <= uint64(len(all)); to++ {
			starts = append(starts, starts[to-from]+c.sizes[to])
		}
		err := fork(len(c.counts), func(thread int) error {
			c.round(all, thread, from, starts)
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		var next atomic.Int64
		err = fork(len(c.counts), func(thread int) error {
			for i := int(next.Add(1)) - 1; i < to-from && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(thread, from+i, all[starts[i]:starts[i+1]]); err != nil {
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

// round scatters the signatures of a thread that are in the partitions from a first one on to their
// starts.
func (c *scatter) round(all []scattered, thread, first int, starts []uint64) {
	places := slices.Clone(starts[:len(starts)-1]) // of the next signature of each partition
	for i := range places {
		for _, counts := range c.counts[:thread] {
			places[i] += counts[first+i]
		}
	}
	shift := c.shift & 63
	c.each(thread, func(rank uint32, set []uint64) {
		if first > 0 {
			at, _ := slices.BinarySearch(set, uint64(first)<<shift)
			set = set[at:]
		}
		for _, hash := range set {
			p := int(hash>>shift) - first
			if p >= len(places) {
				break
			}
			at := places[p]
			places[p]++
			all[at] = scattered{uint32(hash), uint32(hash >> 32), rank}
		}
	})
}

// fork calls f with 0 to threads - 1 in goroutines, and returns the first error, including faults
// of mapped files.
func fork(threads int, f func(thread int) error) error {
	var group errgroup.Group
	for thread := range threads {
		group.Go(func() (err error) {
			defer store.CatchFault(&err)()
			return f(thread)
		})
	}
	return group.Wait()
}
