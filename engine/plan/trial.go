package plan

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"ndd/engine/store"
	"ndd/engine/table"
	"ndd/permute"
)

// trialKeys make a table that the second-level cache of most processors holds,
// and that has some hundred huffman blocks.
const trialKeys = 1 << 17

// trials measures the costs of every layout on a small table.
func trials() (map[table.Layout]Costs, error) {
	keys := spacedKeys(trialKeys)
	costs := make(map[table.Layout]Costs)
	for _, md := range models {
		layout := md.layout()
		var memory store.Memory
		err := table.Write(&memory, "", keys, table.Options{Layout: layout})
		var t table.Table
		if err == nil {
			t, err = table.Open(memory.Source(), "", layout)
		}
		if err != nil {
			return nil, fmt.Errorf("measuring the %s layout: %w", layout, err)
		}
		trial := trial{table: t, model: md, keys: float64(len(keys))}
		trial.entry = uniformEntry(trial.keys)
		costs[layout] = trial.costs()
		if trial.err != nil {
			return nil, fmt.Errorf("measuring the %s layout: %w", layout, trial.err)
		}
	}
	return costs, nil
}

// spacedKeys are about n sorted keys with the gaps of uniform ones.
func spacedKeys(n int) []uint64 {
	rng := rand.New(rand.NewPCG(3, 5))
	mean := 0x1p64 / float64(n)
	keys := make([]uint64, 0, n)
	for at := 0.0; len(keys) < n; {
		if at += 1 + rng.ExpFloat64()*mean; at >= 0x1p64-2048 {
			break
		}
		keys = append(keys, uint64(at)|rng.Uint64()&2047) // a float64 has no such bits
		if i := len(keys) - 1; i > 0 && keys[i] <= keys[i-1] {
			keys = keys[:i]
		}
	}
	return keys
}

// A trial searches one table, again and again.
type trial struct {
	table   table.Table
	model   model
	keys    float64
	entry   entry
	scratch table.Scratch
	matches []table.Match
	err     error
}

// costs solves for the costs: searches in batch whose probes read few units, and
// many; the latter again for a distance at which more keys pass; and one query
// alone.
func (t *trial) costs() (c Costs) {
	const queries, broad, distance = 256, 8, 3
	narrow := t.table.Leading(64)
	few := t.time(queries, narrow, 0, 0) / queries
	many := t.time(queries, broad, 0, 0) / queries
	passing := t.time(queries, broad, 0, distance) / queries

	wide := t.work(broad, 0, 0)
	units, unitsMany := t.units(t.work(narrow, 0, 0)), t.units(wide)
	c.UnitNS = max(0, (many-few)/(unitsMany-units))
	c.ProbeNS = max(0, few-(units-1)*c.UnitNS)
	pass := t.work(broad, 0, distance)
	if more := pass.passing(planarLow) - wide.passing(planarLow); more > 0 {
		c.PassNS = max(0, (passing-many)/more)
	}
	c.QueryNS = max(0, t.time(1, narrow, 1, 0)-float64(narrow+1)*few)
	return c
}

func (t *trial) work(leading, radius, k int) *work {
	w := newWork(t.model, permute.Table{Mask: ^(^uint64(0) >> leading), Radius: radius}, t.keys, k, 1, t.entry, 1)
	return &w
}

func (t *trial) units(w *work) float64 { return t.model.units(w.keys, w.candidates, w.entry) }

// time is the time in ns of a search for so many queries at once.
func (t *trial) time(queries, leading, radius, k int) float64 {
	rng := rand.New(rand.NewPCG(7, uint64(leading)))
	flips := permute.Flips(leading, radius)
	repetitions := max(4, 4096/(queries*len(flips)))
	lists := make([][]uint64, 4) // in turn, so that branches are not learnt by heart
	for l := range lists {
		for range queries {
			lists[l] = append(lists[l], rng.Uint64())
		}
	}
	turn := 0
	return least(repetitions, func() {
		s := table.Search{Queries: lists[turn%len(lists)], Leading: leading, Flips: flips, K: k}
		turn++
		var err error
		t.matches, err = t.table.Search(t.matches[:0], &s, &t.scratch)
		t.err = errors.Join(t.err, err)
	})
}
