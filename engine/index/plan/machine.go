package plan

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"ndd/asm"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// A Machine is how much slower than the reference machine a machine is, on one thread.
type Machine struct {
	Kernel       string  `json:"kernel"`       // of package asm; "reference" for [Reference]
	Instructions float64 `json:"instructions"` // of a search whose data is in cache
	Reads        float64 `json:"reads"`        // random reads of which many are under way at once
	Latency      float64 `json:"latency"`      // random reads that wait for the one before
}

// Reference returns the reference machine, by which plans are made unless the request has another one,
// so that the same input gives the same index everywhere. Its costs are the constants below.
func Reference() *Machine { return &Machine{"reference", 1, 1, 1} }

// The costs of the reference machine were measured on a Zen 5 server with AVX-512, 2 MiB of second-level
// cache and DDR5, as the least of three quiet runs. Reads beyond 256 MiB are those of the tables of 100 M
// to 8,000 M fingerprints there. BenchmarkPlan in bench prints what they predict beside what the machine
// that runs it takes. A choice depends on the ratios of the costs, which differ less between machines
// than the costs do.
var (
	reads = []read{
		{256 << 10, 0.9, 4}, {2 << 20, 1, 8}, {16 << 20, 3, 40}, {128 << 20, 10, 145},
		{256 << 20, 11.4, 160}, {1 << 30, 14, 250}, {16 << 30, 18, 310},
	}
	huffmanCosts = costs{call: 35, query: 185, table: 54, probe: 89, unit: 410}
	planarCosts  = costs{call: 87, query: 44, probe: 13.5, unit: 1.8, pass: 17}
)

const (
	lineNS     = 4.5       // one more 64-byte line of a run read in order
	lineReads  = 256 << 20 // bytes of memory that lineNS was measured in
	searchNS   = 14.4      // a probe of the search that Measure takes the time of
	measureMax = 256 << 20 // bytes that Measure reads
	measureMin = 256 << 10
)

// A read is the cost in nanoseconds of reading a random 64-byte line among bytes of memory.
type read struct {
	bytes           float64
	together, alone float64 // one of many at once; one that waits for the one before
}

// costs are those of the instructions of a search in one layout, in nanoseconds.
type costs struct {
	call  float64 // a query that comes alone
	query float64 // each table, for a query that comes alone
	table float64 // each table, for a query in a batch
	probe float64 // a probe and its first unit
	unit  float64 // a further unit: huffman block, planar bucket
	pass  float64 // a key that passed a comparison of its low bits (planar)
}

// costs returns c as the machine takes them.
func (m *Machine) costs(c costs) costs {
	x := m.Instructions
	return costs{x * c.call, x * c.query, x * c.table, x * c.probe, x * c.unit, x * c.pass}
}

// readAmong returns the cost of a random line among bytes on the reference machine: linear in the logarithm
// between the sizes measured.
func readAmong(bytes float64) read {
	for i, high := range reads {
		if bytes > high.bytes {
			continue
		}
		if i == 0 {
			return high
		}
		low := reads[i-1]
		x := math.Log(bytes/low.bytes) / math.Log(high.bytes/low.bytes)
		return read{bytes, low.together + x*(high.together-low.together), low.alone + x*(high.alone-low.alone)}
	}
	return reads[len(reads)-1]
}

// extra returns what a line costs beyond what the same code pays in cache.
func (m *Machine) extra(bytes float64) read {
	near, far := reads[0], readAmong(bytes)
	return read{far.bytes, m.Reads * (far.together - near.together), m.Latency * (far.alone - near.alone)}
}

// line returns the cost of one more line of a block where a random line costs r: as much less than
// lineNS as r is less than a read where lineNS was measured.
func (m *Machine) line(r read) float64 {
	largest := m.extra(lineReads).together
	return min(m.Reads*lineNS, m.Reads*lineNS*r.together/largest, r.together)
}

// NeedBytes returns the memory that [Measure] takes: more than the caches of most machines hold.
func NeedBytes(b *memory.Budget) uint64 { return max(min(measureMax, b.Left()/2&^63), measureMin) }

// Measure compares this machine with the reference machine by three figures: the time of a search in cache,
// of many random reads at once and of reads that wait for each other. It takes some tenths of a second and
// [NeedBytes] of memory. The error is that of ctx or a [memory.TooLargeError].
func Measure(ctx context.Context, b *memory.Budget) (*Machine, error) {
	bytes := NeedBytes(b)
	reserved, err := b.Reserve("measuring this machine", bytes)
	if err != nil {
		return nil, err
	}
	defer reserved.Release()
	buffer, err := memory.Make[uint64](int(bytes / 8))
	if err != nil {
		return nil, fmt.Errorf("measuring memory: %w", err)
	}
	defer buffer.Free()
	search, err := timeSearch(ctx)
	if err != nil {
		return nil, err
	}
	together, alone := timeReads(ctx, buffer.Data)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	of := readAmong(float64(bytes))
	return &Machine{asm.Backend(), search / searchNS, together / of.together, alone / of.alone}, nil
}

// leastTime returns the least time of f in nanoseconds, of many calls within 30 ms or until ctx is done:
// other programs only add to it. It calls prepare before each f, outside the time.
func leastTime(ctx context.Context, prepare, f func()) float64 {
	best := math.Inf(1)
	for begun := time.Now(); math.IsInf(best, 1) || time.Since(begun) < 30*time.Millisecond && ctx.Err() == nil; {
		prepare()
		begin := time.Now()
		f()
		best = min(best, float64(time.Since(begin)))
	}
	return best
}

// timeSearch returns the time of a probe in a planar table that the second-level cache of most processors
// holds. The queries are others each time, so that the processor does not learn their branches.
func timeSearch(ctx context.Context) (float64, error) {
	const keys, queries, leading, k = 1 << 17, 64, 40, 1
	var m store.Memory
	if err := table.Write(&m, "", spacedKeys(keys), table.Options{Layout: table.LayoutPlanar}); err != nil {
		return 0, err
	}
	t, err := table.Open(m.Source(), "", table.LayoutPlanar)
	if err != nil {
		return 0, err
	}
	s := table.Search{Leading: leading, Flips: permute.Flips(11, 1), K: k, Queries: make([]uint64, queries)}
	s.Prepare(t)
	tables, searches := []table.Table{t}, []table.Search{s}
	var scratch table.Scratch
	var matches []table.Match
	rng := rand.New(rand.NewPCG(7, 7))
	ns := leastTime(ctx, func() {
		for i := range s.Queries {
			s.Queries[i] = rng.Uint64()
		}
	}, func() {
		var e error
		if matches, e = table.SearchAll(matches[:0], tables, searches, &scratch); e != nil {
			err = e
		}
	})
	return ns / float64(queries*s.Flips.Len()), err
}

// spacedKeys returns n sorted keys with gaps like those of uniform ones.
func spacedKeys(n int) []uint64 {
	rng := rand.New(rand.NewPCG(3, 5))
	keys := make([]uint64, n)
	gap := math.MaxUint64 / uint64(n+1)
	for i := range keys {
		keys[i] = uint64(i)*gap + rng.Uint64N(gap)
	}
	return keys
}

// timeReads returns the time of a random read of data when many are under way, and when each waits for the
// one before. It first writes all of data.
func timeReads(ctx context.Context, data []uint64) (together, alone float64) {
	const many, few, pass = 1 << 12, 1 << 9, 64
	clear(data) // memory is there when it is written to
	rng := rand.New(rand.NewPCG(1, uint64(len(data))))
	index, sum := make([]uint64, many), uint64(0)
	draw := func() {
		for i := range index {
			index[i] = rng.Uint64N(uint64(len(data)))
		}
	}
	together = leastTime(ctx, draw, func() {
		for at := index; len(at) > 0; at = at[pass:] {
			asm.PrefetchAt(data, at[:pass])
			for _, i := range at[:pass] {
				sum += data[i]
			}
		}
	})
	alone = leastTime(ctx, draw, func() {
		value := uint64(0) // data is zero
		for _, i := range index[:few] {
			value = data[i+value]
		}
		sum += value
	})
	if sum != 0 {
		panic("plan: memory that nobody wrote is not zero")
	}
	return together / many, alone / few
}
