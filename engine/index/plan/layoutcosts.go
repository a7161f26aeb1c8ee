package plan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// timedKeys make a table that the second-level cache of most processors holds,
// and that has some hundred huffman blocks.
const timedKeys = 1 << 17

// layoutRounds are how often the costs of each layout are measured, one layout after the other, and roundLeast how long each
// figure of a round is. What disturbs for longer than that is in few of the rounds.
const (
	layoutRounds = 3
	roundLeast   = 4 * time.Millisecond
)

// layouts measures the costs of every layout on small tables: the median of some rounds, since a cost is the difference of
// two times, which is too small where the one that is taken off was disturbed.
func (m timer) layouts() (map[table.Layout]Costs, error) {
	m.least = min(m.least, roundLeast)
	keys := spacedKeys(timedKeys)
	rounds := make(map[table.Layout][]Costs)
	for range layoutRounds {
		for _, md := range models {
			c, err := m.layoutCosts(md, keys)
			if err != nil {
				return nil, fmt.Errorf("measuring the %s layout: %w", md.layout(), err)
			}
			rounds[md.layout()] = append(rounds[md.layout()], c)
		}
	}
	costs := make(map[table.Layout]Costs)
	for layout, of := range rounds {
		costs[layout] = medianCosts(of)
	}
	return costs, nil
}

// layoutCosts measures the costs of a layout, on a table of keys and small segments.
func (m timer) layoutCosts(md model, keys []uint64) (c Costs, err error) {
	s, err := m.tableTimer(md, keys)
	if err != nil {
		return c, err
	}
	c = s.costs()
	return c, errors.Join(s.err, callCosts(m, md, &c), m.ctx.Err())
}

// medianCosts returns the median of each cost.
func medianCosts(rounds []Costs) (median Costs) {
	fields := func(c *Costs) []*float64 {
		return []*float64{&c.CallNS, &c.QueryNS, &c.TableNS, &c.ProbeNS, &c.ListNS, &c.UnitNS, &c.PassNS}
	}
	for i, to := range fields(&median) {
		var values []float64
		for r := range rounds {
			values = append(values, *fields(&rounds[r])[i])
		}
		slices.Sort(values)
		*to = values[len(values)/2]
	}
	return median
}

// tableTimer returns one for a table of keys.
func (m timer) tableTimer(md model, keys []uint64) (*tableTimer, error) {
	var memory store.Memory
	if err := table.Write(&memory, "", keys, table.Options{Layout: md.layout()}); err != nil {
		return nil, err
	}
	t, err := table.Open(memory.Source(), "", md.layout())
	if err != nil {
		return nil, err
	}
	n := float64(len(keys))
	timed := &tableTimer{timer: m, table: t, model: md, keys: n, entry: uniformEntry(n)}
	timed.take = timed.timeOf
	return timed, nil
}

// spacedKeys returns about n sorted keys with the gaps of uniform ones.
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

// A tableTimer searches one table, again and again.
type tableTimer struct {
	timer
	table   table.Table
	model   model
	keys    float64
	entry   entry
	take    func(table.Search) float64 // timeOf
	scratch table.Scratch
	matches []table.Match
	err     error
}

// costs solves for what probes cost: searches in batch whose probes look into
// one unit, first one probe a query, then a dozen; and into many units, for two
// distances, of which the larger lets more keys pass.
func (t *tableTimer) costs() (c Costs) {
	const broad, distance = 8, 3
	alone, dozen := permute.Flips(0, 0), permute.Flips(11, 1)
	one, further := t.probe()
	all := one + further*float64(dozen.Len()-1)
	unprepared := t.take(table.Search{Leading: narrow, Flips: dozen, K: 1}) / timedTogether
	many := t.search(broad, 0, alone) / timedTogether
	passing := t.search(broad, distance, alone) / timedTogether

	wide := t.work(broad, 0)
	c.ProbeNS = max(0, further)
	c.ListNS = max(0, (unprepared-all)/float64(dozen.Len()))
	c.UnitNS = max(0, (many-one)/(t.model.units(wide)-t.model.units(t.work(narrow, 0))))
	if more := t.work(broad, distance).passing() - wide.passing(); more > 0 {
		c.PassNS = max(0, (passing-many)/more)
	}
	return c
}

// narrow is how many leading bits leave a probe one unit.
const narrow = 40

// probe returns the time in ns of a query of one probe, and what each further one takes.
func (t *tableTimer) probe() (one, further float64) {
	dozen := permute.Flips(11, 1)
	one = t.search(narrow, 1, permute.Flips(0, 0)) / timedTogether
	all := t.search(narrow, 1, dozen) / timedTogether
	return one, (all - one) / float64(dozen.Len()-1)
}

func (t *tableTimer) work(leading, k int) *work {
	w := newWork(permute.Table{Mask: ^(^uint64(0) >> leading)}, leading, t.keys, k, t.entry)
	return &w
}

// timedTogether is how many queries a search has whose time is taken.
const timedTogether = 64

// search returns the time in ns of such a search, prepared as those of a segment are.
func (t *tableTimer) search(leading, k int, flips permute.FlipSet) float64 {
	s := table.Search{Leading: leading, Flips: flips, K: k}
	s.Prepare(t.table)
	return t.take(s)
}

// timeOf returns the time in ns of a search for other queries each time.
func (t *tableTimer) timeOf(s table.Search) float64 {
	turn, lists := 0, timedQueries(timedTogether)
	return t.timer.time(4, func() { turn++ }, func() {
		s.Queries = lists[turn%len(lists)]
		var err error
		t.matches, err = t.table.Search(t.matches[:0], &s, &t.scratch)
		t.err = errors.Join(t.err, err)
	})
}

// timedQueries returns lists of n queries to search for in turn, many in all, so that the
// processor does not learn their branches by heart.
func timedQueries(n int) [][]uint64 {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	lists := make([][]uint64, max(4, 8192/n))
	for l := range lists {
		for range n {
			lists[l] = append(lists[l], rng.Uint64())
		}
	}
	return lists
}

// segmentKeys make segments whose ten tables the second-level cache holds.
const segmentKeys = 1 << 14

// A segmentTimes is what a query of a small segment takes, by itself and in a batch.
type segmentTimes struct {
	tables       float64
	further      float64 // what its probes, one a table, take beyond their first units
	alone, batch float64
}

// A segmentTimer measures small segments and their tables.
type segmentTimer interface {
	smallProbe(md model, keys []uint64) (float64, error)
	segmentTimes(md model, design string, k int, keys []uint64, c *Costs) (segmentTimes, error)
}

// callCosts completes the costs by what is around the probes: the permutation
// of queries, the test which table reports a hit, and the call itself. Two
// segments, of one table and of ten, tell the share of a table from the rest.
func callCosts(t segmentTimer, md model, c *Costs) error {
	keys := spacedKeys(segmentKeys)
	probe, err := t.smallProbe(md, keys)
	if err != nil {
		return err
	}
	one, err := t.segmentTimes(md, "one", 0, keys, c)
	if err != nil {
		return err
	}
	ten, err := t.segmentTimes(md, "paper-10", 3, keys, c)
	if err != nil {
		return err
	}
	c.solveCalls(one, ten, probe)
	return nil
}

// smallProbe returns what one more probe of a query takes in a table of keys.
func (m timer) smallProbe(md model, keys []uint64) (float64, error) {
	t, err := m.tableTimer(md, keys)
	if err != nil {
		return 0, err
	}
	_, further := t.probe()
	return max(0, further), t.err
}

// solveCalls completes the costs by the times of a segment of one table and of one of several. In a batch a table is what is left of
// it without a probe of so few keys: a huffman one takes a third longer than the probes of larger tables that ProbeNS is.
func (c *Costs) solveCalls(one, several segmentTimes, smallProbe float64) {
	around := func(s segmentTimes) float64 { return s.alone - s.tables*c.ProbeNS - s.further }
	c.QueryNS = max(0, (around(several)-around(one))/(several.tables-one.tables))
	c.CallNS = max(0, around(one)-one.tables*c.QueryNS)
	c.TableNS = max(0, (several.batch-several.further)/several.tables-smallProbe)
}

// segmentTimes measures a segment of keys whose tables are those of a design.
func (m timer) segmentTimes(md model, name string, k int, keys []uint64, c *Costs) (times segmentTimes, err error) {
	design, err := permute.Named(name, k, 1)
	if err != nil {
		return times, err
	}
	var memory store.Memory
	options := segment.Options{Design: design, Table: table.Options{Layout: md.layout()}, Threads: 1}
	if err := segment.Write(m.ctx, &memory, segment.Input{Fingerprints: keys}, options); err != nil {
		return times, err
	}
	s, err := segment.Open(memory.Source())
	if err != nil {
		return times, err
	}
	defer s.Close()
	var scratch segment.Scratch
	var matches []segment.Match
	search := func(n int) float64 {
		turn, lists := 0, timedQueries(n)
		return m.time(4, func() { turn++ }, func() {
			var e error
			matches, e = s.Search(matches[:0], lists[turn%len(lists)], k, &scratch)
			err = errors.Join(err, e)
		}) / float64(n)
	}
	times = segmentTimes{tables: float64(len(design.Tables)), alone: search(1), batch: search(batchQueries)}
	for _, t := range design.Tables {
		w := newUniformWork(md, t, float64(len(keys)), k, uniformEntry(float64(len(keys))))
		times.further += (md.units(&w)-1)*c.UnitNS + w.passing()*c.PassNS
	}
	return times, err
}
