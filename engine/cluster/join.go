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

// Join calls emit with the indexes of every pair of distinct fingerprints
// within distance d.K of each other, each pair once, from one goroutine at a
// time and in no order. The design must have radius 0; fingerprints must be
// distinct.
func Join(ctx context.Context, fingerprints []uint64, d permute.Design, threads int, emit func(a, b uint64)) error {
	n := len(fingerprints)
	rows := make([]radix.Pair, n)
	keys := make([]uint64, n)
	var mu sync.Mutex
	for t, tab := range d.Tables {
		if tab.Radius != 0 {
			panic("cluster: a join needs tables of radius 0")
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		radix.Pairs(rows, fingerprints, tab.Mask, threads)
		for i := range rows {
			keys[i] = rows[i][0]
		}
		j := joiner{ctx: ctx, design: &d, table: t, perm: permute.New(tab.Mask), keys: keys, rows: rows, mu: &mu, emit: emit}
		var wait sync.WaitGroup
		for i := range threads {
			wait.Go(func() { j.runs(i*n/threads, (i+1)*n/threads) })
		}
		wait.Wait()
	}
	return ctx.Err()
}

type joiner struct {
	ctx    context.Context
	design *permute.Design
	table  int
	perm   permute.Permutation
	keys   []uint64 // permuted, ascending
	rows   []radix.Pair
	mu     *sync.Mutex
	emit   func(a, b uint64)
}

// runs compares all pairs of the runs that begin in [from, to).
func (j joiner) runs(from, to int) {
	shift := 64 - j.perm.Leading()
	same := func(a, b int) bool { return j.keys[a]>>shift == j.keys[b]>>shift }
	for from > 0 && from < to && same(from-1, from) {
		from++ // the rest of a run that began before
	}
	found := make([]uint32, 1024)
	for start := from; start < to; {
		end := start + 1
		for end < len(j.keys) && same(start, end) {
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
const smallRun = 16

func (j joiner) run(start, end int, found []uint32) {
	keys, k := j.keys[:end], j.design.K
	for a := start; a < end-1; a++ {
		if end-a <= smallRun {
			for b := a + 1; b < end; b++ {
				if bits.OnesCount64(keys[a]^keys[b]) <= k {
					j.pair(a, b)
				}
			}
			continue
		}
		if a%256 == 0 && j.ctx.Err() != nil {
			return
		}
		for at := a + 1; at < end; {
			n, done := asm.Within64(found, keys[at:], keys[a], k)
			for _, i := range found[:n] {
				j.pair(a, at+int(i))
			}
			at += done
		}
	}
}

func (j joiner) pair(a, b int) {
	diff := j.perm.Invert(j.keys[a] ^ j.keys[b])
	if j.design.First(diff) != j.table {
		return
	}
	x, y := j.rows[a][1], j.rows[b][1]
	j.mu.Lock()
	j.emit(min(x, y), max(x, y))
	j.mu.Unlock()
}
