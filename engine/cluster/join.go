package cluster

import (
	"context"
	"math"
	"math/bits"
	"sync"

	"ndd/asm"
	"ndd/engine/radix"
	"ndd/permute"
)

// Choose is the design for joining n distinct fingerprints that should cost
// least. Its tables have radius 0.
func Choose(n, k int) permute.Design {
	const sortCost, compareCost = 20.0, 0.3 // ns; BenchmarkFind
	best, least := permute.Design{}, math.Inf(1)
	for _, d := range permute.Catalogue(k, 1) {
		cost := 0.0
		for _, t := range d.Tables {
			if t.Radius > 0 {
				cost = math.Inf(1)
			}
			run := float64(n) * math.Ldexp(1, -t.Leading())
			cost += sortCost + compareCost*run/2
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
func Join(ctx context.Context, fingerprints []uint64, d permute.Design, threads int, emit func(a, b uint64)) error {
	keys := make([]uint64, len(fingerprints))
	var mu sync.Mutex
	for t, tab := range d.Tables {
		if tab.Radius != 0 {
			panic("cluster: a join needs tables of radius 0")
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		radix.Keys(keys, fingerprints, tab.Mask, threads)
		j := joiner{ctx: ctx, design: &d, table: t, perm: permute.New(tab.Mask), keys: keys, mu: &mu, emit: emit}
		var wait sync.WaitGroup
		for i := range threads {
			wait.Go(func() { j.runs(i*len(keys)/threads, (i+1)*len(keys)/threads) })
		}
		wait.Wait()
	}
	return ctx.Err()
}

// joiner compares the runs of one table.
type joiner struct {
	ctx    context.Context
	design *permute.Design
	table  int
	perm   permute.Permutation
	keys   []uint64 // permuted, ascending
	mu     *sync.Mutex
	emit   func(a, b uint64)
}

// runs compares all pairs of the runs that begin in [from, to).
func (j joiner) runs(from, to int) {
	shift := 64 - j.perm.Leading()
	keys := j.keys
	for from > 0 && from < to && keys[from-1]>>shift == keys[from]>>shift {
		from++ // the rest of a run that began before
	}
	found := make([]uint32, 1024)
	for start := from; start < to; {
		leading := keys[start] >> shift
		end := start + 1
		for end < len(keys) && keys[end]>>shift == leading {
			end++
		}
		if end-start > 1 {
			j.run(start, end, found)
			if j.ctx.Err() != nil {
				return
			}
		}
		start = end
	}
}

// smallRun is the length up to which a run is compared in Go: the call of a
// kernel costs more.
const smallRun = 12

func (j joiner) run(start, end int, found []uint32) {
	keys, k := j.keys[:end], j.design.K
	for a := start; a < end-1; a++ {
		if end-a <= smallRun {
			for b := a + 1; b < end; b++ {
				if bits.OnesCount64(keys[a]^keys[b]) <= k {
					j.pair(keys[a], keys[b])
				}
			}
			continue
		}
		if a%256 == 255 && j.ctx.Err() != nil {
			return
		}
		for at := a + 1; at < end; {
			n, done := asm.Within64(found, keys[at:], keys[a], k)
			for _, i := range found[:n] {
				j.pair(keys[a], keys[at+int(i)])
			}
			at += done
		}
	}
}

// pair reports two keys if this table is the pair's canonical one.
func (j joiner) pair(a, b uint64) {
	if j.design.First(j.perm.Invert(a^b)) != j.table {
		return
	}
	a, b = j.perm.Invert(a), j.perm.Invert(b)
	j.mu.Lock()
	j.emit(min(a, b), max(a, b))
	j.mu.Unlock()
}
