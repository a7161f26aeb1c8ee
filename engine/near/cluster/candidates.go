package cluster

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
)

// A filter is a set of fingerprints with false positives. It has one bit for the hash of each fingerprint.
// Many goroutines may add to it at a time.
type filter []uint64

func (f filter) place(fingerprint uint64) (word, bit uint64) {
	position, _ := bits.Mul64(fingerprint*0x9e3779b97f4a7c15, uint64(len(f))<<6)
	return position >> 6, 1 << (position & 63)
}

func (f filter) add(fingerprint uint64) {
	if word, bit := f.place(fingerprint); atomic.LoadUint64(&f[word])&bit == 0 {
		atomic.OrUint64(&f[word], bit)
	}
}

func (f filter) has(fingerprint uint64) bool {
	word, bit := f.place(fingerprint)
	return f[word]&bit != 0
}

// candidates are the documents that are compared with each other: all documents, or the documents that may
// have a near one. They have numbers of 32 bits, in order of their rows. It is a [radix.Input].
type candidates struct {
	fingerprints []uint64 // fingerprints of all documents, by row
	rows         []uint32 // the lower 32 bits; nil for all
	highs        []int    // highs[i] is the number of candidates with a row below (i+1)<<32
	len          int
	arena        memory.Arena // memory of rows
}

func (c *candidates) row(i uint32) Row {
	if c.rows == nil {
		return Row(i)
	}
	high, _ := slices.BinarySearch(c.highs, int(i)+1)
	return Row(high)<<32 | Row(c.rows[i])
}

// Len implements [radix.Input].
func (c *candidates) Len() int { return c.len }

// Read implements [radix.Input].
func (c *candidates) Read(part, parts int, f func(fingerprints []uint64, row int) error) error {
	if c.rows == nil {
		return radix.Chunks{c.fingerprints}.Read(part, parts, f)
	}
	var buffer [2048]uint64
	for index, to := c.len*part/parts, c.len*(part+1)/parts; index < to; {
		n := min(len(buffer), to-index)
		for i := range n {
			buffer[i] = c.fingerprints[c.row(uint32(index+i))]
		}
		if err := f(buffer[:n], index); err != nil {
			return err
		}
		index += n
	}
	return nil
}

// filterBits is the number of bits of the filter for each document. If a share s of all documents have a near one,
// about s/8 of the other documents are candidates too.
const filterBits = 8

// findNear returns the documents that are near another one or equal to one, and few others. It joins all
// fingerprints in parts of at most some keys, and records in a filter which fingerprints have a near one.
func findNear(ctx context.Context, all []uint64, o Options, keysMax int) (_ *candidates, err error) {
	a := o.Arena.Empty()
	defer a.Free()
	marks := filter(memory.Alloc[uint64](&a, len(all)*filterBits/64+1, &err))
	keys := memory.AllocBuffer[uint64](&a, keysMax, &err)
	if err != nil {
		return nil, err
	}
	d := Choose(len(all), o.K)
	o.Meter.Total.Add(int64(len(all) * (len(d.Tables) + 2))) // filtered reads all fingerprints twice
	if err := joinForest(ctx, radix.Chunks{all}, keys.Data, d, o.Threads, o.Meter, func(a uint64, neighbours []uint64) {
		marks.add(a)
		for _, b := range neighbours {
			marks.add(b)
		}
	}); err != nil {
		return nil, err
	}
	keys.Free()
	return filtered(ctx, all, marks, o)
}

// filtered returns the documents whose fingerprints are in a filter. It counts them first, by the part of the input and
// the high half of the row, and then writes each to its position.
func filtered(ctx context.Context, all []uint64, marks filter, o Options) (*candidates, error) {
	// Both passes look up all fingerprints in the filter, each thread in its part.
	c, threads := &candidates{fingerprints: all, arena: o.Arena.Empty()}, o.Threads
	highs := (len(all)-1)>>32 + 1
	ends := make([]int, threads*highs) // numbers of candidates by part and high half; then positions
	each := func(do func(slot int, row int)) error {
		var g errgroup.Group
		for part := range threads {
			g.Go(func() (err error) {
				defer store.EndFaults(store.BeginFaults(), &err) // the fingerprints may be mapped
				return radix.Chunks{all}.Read(part, threads, func(fingerprints []uint64, row int) error {
					for len(fingerprints) > 0 {
						n := min(len(fingerprints), filterPart)
						for i, f := range fingerprints[:n] {
							if marks.has(f) {
								do(part*highs+(row+i)>>32, row+i)
							}
						}
						o.Meter.Compared.Add(int64(n))
						if fingerprints, row = fingerprints[n:], row+n; ctx.Err() != nil {
							return ctx.Err()
						}
					}
					return nil
				})
			})
		}
		return g.Wait()
	}
	// The first pass counts the candidates of each part.
	if err := each(func(slot, _ int) { ends[slot]++ }); err != nil {
		return nil, err
	}
	// The counts give the positions of the candidates.
	c.highs = make([]int, highs-1)
	for slot, n := range ends {
		for high := slot%highs + 1; high < highs; high++ {
			c.highs[high-1] += n
		}
		ends[slot] = c.len
		c.len += n
	}
	// The second pass writes their rows.
	if uint64(c.len) > math.MaxUint32 {
		return nil, fmt.Errorf("%d documents that are near others are more than the %d that can be clustered at once",
			c.len, uint32(math.MaxUint32))
	}
	var err error
	if c.rows = memory.Alloc[uint32](&c.arena, c.len, &err); err != nil {
		return nil, err
	}
	if c.len == 0 {
		c.rows = []uint32{}
	}
	return c, each(func(slot, row int) {
		c.rows[ends[slot]] = uint32(row)
		ends[slot]++
	})
}

// filterPart is the number of fingerprints to look up between two checks of the context.
const filterPart = 1 << 16
