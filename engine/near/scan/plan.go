package scan

import (
	"math"
	"runtime"

	"github.com/dustin/go-humanize"
)

// A Plan describes how queries will be answered, and the maximum memory in bytes.
type Plan struct {
	Queries     int    // queries that are answered at a time; F is read once for each such part
	Threads     int    // goroutines that map
	Tables      uint64 // bytes of the tables of a part of the queries
	Chunks      uint64 // bytes of the partitions of the chunks of F that are mapped at the same time
	Hits        uint64 // bytes of hits in memory, before they are written to files
	NoPrefilter bool   // there is no prefilter, to save memory
}

// Bytes returns the memory of the whole plan.
func (p *Plan) Bytes() uint64 { return p.Tables + p.Chunks + p.Hits }

// task names the plan in messages.
func (p *Plan) task() string {
	return "answering " + humanize.Comma(int64(p.Queries)) + " queries at a time"
}

const (
	// hitBytesMax and hitBytesMin bound the memory for hits, which is a quarter of the available memory.
	hitBytesMax = 1 << 30
	hitBytesMin = 64 << 10
	// partQueriesMin is the smallest part of the queries for which F is read again.
	partQueriesMin = 1 << 10
)

// NewPlan returns the plan with the least estimated time for queries of distance k, among those that fit in the
// memory that o.Budget has left. Plans differ in the number of queries at a time, in the number of goroutines, up
// to o.Threads, and in whether there is a prefilter. NewPlan reserves no memory. Its error is a [memory.TooLargeError].
func NewPlan(queries, k int, o Options) (best Plan, err error) {
	o.setDefaults()
	available := o.Budget.Free()
	var p Plan
	lowest := math.Inf(1)
	for p.Queries = queries; ; p.Queries = (p.Queries + 1) / 2 {
		for _, p.NoPrefilter = range []bool{false, true} {
			time := p.fit(available, queries, k, &o)
			if p.Queries <= queriesMax && p.Bytes() <= available && (lowest == math.Inf(1) || time < lowest) {
				best, lowest = p, time
			}
		}
		if p.Queries <= partQueriesMin || o.Once {
			break
		}
	}
	if lowest == math.Inf(1) {
		return p, o.Budget.Check(p.task(), p.Bytes())
	}
	return best, nil
}

// fit plans to answer p.Queries at a time, with as many goroutines as fit in the memory that is left, at least
// one. It returns the time for all queries, in nanoseconds a fingerprint of F.
func (p *Plan) fit(available uint64, queries, k int, o *Options) (time float64) {
	p.Hits = min(max(available/4, hitBytesMin), hitBytesMax)
	s := chooseStrategy(workload{queries: p.Queries, k: k, fingerprints: o.Fingerprints, noPrefilter: p.NoPrefilter})
	each := s.mapperBytes()
	p.Tables = s.tableBytes(p.Queries)
	if p.Threads = 1; p.Tables+p.Hits < available {
		p.Threads = int(min(max((available-p.Tables-p.Hits)/each, 1), uint64(o.Threads)))
	}
	p.Chunks = uint64(p.Threads) * each
	parts := (queries + p.Queries - 1) / max(p.Queries, 1)
	return float64(parts) * s.cost / float64(min(p.Threads, runtime.GOMAXPROCS(0)))
}

// tableBytes returns the bytes of memory for building the tables of a number of queries.
func (s *strategy) tableBytes(queries int) (bytes uint64) {
	for _, g := range s.groups {
		for _, l := range g.layouts {
			bytes += 2 * l.bytes // the key and the query number of each lane
		}
	}
	// First the numbers of the queries. Then keys and rows, with a copy of each during the sort.
	bytes += uint64(queries) * (16 + 2*16)
	if s.mapBits > 0 {
		bytes += 3*1<<(s.mapBits-3) + 16*uint64(queries) // two maps, a copy of one while it is dilated, and keys
	}
	return bytes
}

func (s *strategy) mapperBytes() uint64 {
	if s.mapBits == 0 {
		return 256 << 10
	}
	return uint64(8*(s.halves().Size()+1<<candidateBits*3/2)) + 256<<10
}
