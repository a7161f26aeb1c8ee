package cluster

import (
	"context"
	"math"
	"math/bits"
	"sync"

	"ndd/asm"
	"ndd/engine/offheap"
	"ndd/engine/radix"
	"ndd/permute"
)

// costs of joining are in ns a fingerprint and table, one thread (BenchmarkJoin,
// asm.BenchmarkNearRows): bringing runs together, comparing a run, and each key of it.
type costs struct{ partition, run, key float64 }

var (
	costsWide = costs{partition: 9, run: 1.3, key: 0.064} // AVX-512
	costsGo   = costs{partition: 15, run: 4, key: 0.49}
)

// runLeast is what runs come to when a table has bits enough: what is shorter is not split.
const runLeast = 6

// Choose is the design for joining n distinct fingerprints that should cost least. Its
// tables have radius 0.
func Choose(n, k int) permute.Design { return choose(n, k, 1) }

func choose(n, k int, seed uint64) permute.Design {
	c := costsGo
	if asm.Kernel() == asm.AVX512 {
		c = costsWide
	}
	best, least := permute.Design{}, math.Inf(1)
	for _, d := range permute.Catalogue(k, seed) {
		cost := 0.0
		for _, t := range d.Tables {
			if t.Radius > 0 {
				cost = math.Inf(1)
			}
			run := max(runLeast, float64(n)*math.Ldexp(1, -t.Leading()))
			cost += c.partition + c.run + c.key*run
		}
		if cost < least {
			best, least = d, cost
		}
	}
	return best
}

// Join calls emit with every pair a < b of fingerprints within distance d.K of
// each other, each pair once, from one goroutine at a time and in no order.
// The fingerprints must be distinct; the design must have radius 0.
//
// Memory beside them is 8 bytes a fingerprint, off the heap, and a bucket a thread.
func Join(ctx context.Context, fingerprints []uint64, d permute.Design, threads int, emit func(a, b uint64)) error {
	var mu sync.Mutex
	return join(ctx, fingerprints, d, threads, 0, func(a, b uint64) {
		mu.Lock()
		defer mu.Unlock()
		emit(a, b)
	})
}

// join is Join, whose emit is called from several goroutines.
func join(ctx context.Context, fingerprints []uint64, d permute.Design, threads, depth int, emit func(a, b uint64)) error {
	memory, err := offheap.Make[uint64](len(fingerprints))
	if err != nil {
		return err
	}
	defer memory.Free()
	for t, tab := range d.Tables {
		if tab.Radius != 0 {
			panic("cluster: a join needs tables of radius 0")
		}
		j := joiner{ctx: ctx, design: &d, table: t, perm: permute.New(tab.Mask), depth: depth, emit: emit}
		o := radix.Options{Mask: tab.Mask, Threads: threads}
		if err := radix.Runs(ctx, memory.Data, radix.Chunks{fingerprints}, o, tab.Leading(), j.runs); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// joiner compares the runs of one table.
type joiner struct {
	ctx    context.Context
	design *permute.Design
	table  int
	perm   permute.Permutation
	depth  int // of joins of runs
	emit   func(a, b uint64)
}

// runs compares all pairs of each run. The kernel says which keys have a near one behind them.
func (j *joiner) runs(keys []uint64, ends []uint32) error {
	var rows [asm.NearRunMax]uint32
	from := uint32(0)
	for len(ends) > 0 {
		n, done := asm.NearRows(rows[:], keys, ends, from, j.design.K)
		run := 0
		for _, i := range rows[:n] {
			for ends[run] <= i {
				run++
			}
			j.row(keys[i], keys[i+1:ends[run]])
		}
		if done == 0 {
			if err := j.long(keys[from:ends[0]]); err != nil {
				return err
			}
			done = 1
		}
		from = ends[done-1]
		ends = ends[done:]
	}
	return j.ctx.Err()
}

func (j *joiner) row(a uint64, behind []uint64) {
	for _, b := range behind {
		if bits.OnesCount64(a^b) <= j.design.K {
			j.pair(a, b)
		}
	}
}

const (
	nestMin = 4096 // keys of a run from which joining it costs less than comparing all pairs
	nestMax = 2    // joins in joins: what is still together then is compared
)

// long compares all pairs of a run that the kernel does not take: of a corpus that is far from
// uniform. What shares the leading bits of this table may differ in those of others, so a very long
// run is joined by itself, with tables of its own.
func (j *joiner) long(keys []uint64) error {
	if len(keys) >= nestMin && j.depth < nestMax {
		prints := make([]uint64, len(keys))
		asm.Unpermute(prints, keys, j.perm.Mask())
		d := choose(len(prints), j.design.K, uint64(j.depth)+2)
		return join(j.ctx, prints, d, 1, j.depth+1, j.print)
	}
	found := make([]uint32, 1024)
	for i, a := range keys {
		if i%256 == 255 && j.ctx.Err() != nil {
			return j.ctx.Err()
		}
		for rest := keys[i+1:]; len(rest) > 0; {
			n, done := asm.Within64(found, rest, a, j.design.K)
			for _, at := range found[:n] {
				j.pair(a, rest[at])
			}
			rest = rest[done:]
		}
	}
	return nil
}

// pair reports two keys if this table is the pair's canonical one.
func (j *joiner) pair(a, b uint64) { j.print(j.perm.Invert(a), j.perm.Invert(b)) }

// print does so for fingerprints.
func (j *joiner) print(a, b uint64) {
	if j.design.First(a^b) == j.table {
		j.emit(min(a, b), max(a, b))
	}
}
