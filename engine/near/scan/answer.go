package scan

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"runtime"

	"github.com/dustin/go-humanize"
)

// A Plan is how queries will be answered, and the memory that takes, at most, in bytes.
type Plan struct {
	Queries int    // answered at a time; F is read once for each so many
	Threads int    // that map
	Tables  uint64 // of these queries
	Chunks  uint64 // of F: what is mapped at a time, and its partitions
	Hits    uint64 // beyond which they go to files; or of marks, where they are counted
	Plain   bool   // no prefilter, since that takes memory
}

// Bytes returns all of it.
func (s *Plan) Bytes() uint64 { return s.Tables + s.Chunks + s.Hits }

const (
	// hitsMost and hitsLeast bound the memory for hits, a quarter of what there is.
	hitsMost  = 1 << 30
	hitsLeast = 64 << 10
	// partQueries are the fewest queries for which F is read again.
	partQueries = 1 << 10
)

// NewPlan returns how queries for distance k are answered in the memory that o.Budget has left: all
// at a time, or some; with a prefilter or without; by o.Threads goroutines or fewer: whatever should
// take the least time of all that fits. streamed says that F is not in memory or mapped already.
// The error is a [memory.TooLargeError]. NewPlan reserves nothing.
func NewPlan(queries, k int, streamed bool, o Options) (best Plan, err error) {
	o.setDefaults()
	left := o.Budget.Left()
	var s Plan
	least := math.Inf(1)
	for s.Queries = queries; ; s.Queries = (s.Queries + 1) / 2 {
		if s.Hits = min(max(left/4, hitsLeast), hitsMost); o.Counted {
			s.Hits = marksBytes(s.Queries)
		}
		for _, s.Plain = range []bool{false, true} {
			p := choose(job{s.Queries, k, o.Fingerprints, s.Plain})
			buffer, each := uint64(0), p.mapperBytes()
			if streamed {
				buffer = 8 * chunkPrints // and one that is being filled
			}
			s.Tables = p.tableBytes(s.Queries)
			if s.Threads = 1; s.Tables+s.Hits+buffer < left {
				s.Threads = int(min(max((left-s.Tables-s.Hits-buffer)/(each+buffer), 1), uint64(o.Threads)))
			}
			s.Chunks = uint64(s.Threads)*each + uint64(s.Threads+1)*buffer
			parts := (queries + s.Queries - 1) / max(s.Queries, 1)
			time := float64(parts) * p.cost / float64(min(s.Threads, runtime.GOMAXPROCS(0)))
			if s.Queries <= queriesMax && s.Bytes() <= left && (least == math.Inf(1) || time < least) {
				best, least = s, time
			}
		}
		if s.Queries <= partQueries || o.Once {
			break
		}
	}
	if least == math.Inf(1) {
		return s, o.Budget.Check(s.task(), s.Bytes())
	}
	return best, nil
}

// task names the plan in messages.
func (s *Plan) task() string {
	return "answering " + humanize.Comma(int64(s.Queries)) + " queries at a time"
}

// tableBytes is the memory of the tables on so many queries, while they are made.
func (p *plan) tableBytes(queries int) (bytes uint64) {
	for _, g := range p.groups {
		for _, l := range g.layouts {
			bytes += 2 * l.bytes // which query a lane has, too
		}
	}
	// The numbers of queries, and pairs while they are sorted, which takes as many again.
	bytes += uint64(queries) * (16 + 2*16)
	if p.bits > 0 {
		bytes += 3*1<<(p.bits-3) + 16*uint64(queries) // two maps, one of them while it is made; keys
	}
	return bytes
}

// mapperBytes is the memory of a mapper.
func (p *plan) mapperBytes() uint64 {
	piles := 0
	for _, g := range p.groups {
		for _, l := range g.layouts {
			piles = max(piles, l.words())
		}
	}
	if p.bits > 0 {
		piles += p.halves().words() + 1<<siftedBits*3/2
	}
	return uint64(8*piles) + 256<<10
}

// Answer yields every hit of the queries against F, in order: row of Q, distance,
// fingerprint, row of F. open gives F from its beginning, more than once where the
// queries do not fit in memory together. After an error, which may be that of ctx,
// there is nothing more.
func Answer(ctx context.Context, open func() (Source, error), queries []uint64, k int, s Plan, o Options) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		stopped := errors.New("stopped")
		err := inParts(open, queries, k, s, o, func(t *tables, f Source, o Options) error {
			hits, err := t.Run(ctx, f, o)
			if err != nil {
				return err
			}
			defer hits.Close()
			for h, err := range hits.All(ctx) {
				if err != nil {
					return err
				}
				if !yield(h, nil) {
					return stopped
				}
			}
			return hits.Close()
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(Hit{}, err)
		}
	}
}

// inParts calls part with tables of as many of the queries as fit, and F from its beginning, until
// all are done.
func inParts(open func() (Source, error), queries []uint64, k int, s Plan, o Options, part func(*tables, Source, Options) error) error {
	o.Threads = cmp.Or(s.Threads, o.Threads)
	o.setDefaults()
	reserved, err := o.Budget.Reserve(s.task(), s.Bytes())
	if err != nil {
		return err
	}
	defer reserved.Release()
	o.hitBytes = s.Hits
	for first := 0; first < len(queries); first += s.Queries {
		o.First = uint64(first)
		if err := onePart(open, queries[first:min(first+s.Queries, len(queries))], k, s, o, part); err != nil {
			return err
		}
	}
	return nil
}

func onePart(open func() (Source, error), queries []uint64, k int, s Plan, o Options, part func(*tables, Source, Options) error) error {
	t, err := newTables(queries, making{K: k, Threads: o.Threads, Fingerprints: o.Fingerprints, Plain: s.Plain})
	if err != nil {
		return err
	}
	defer t.Close()
	f, err := open()
	if err != nil {
		return err
	}
	return part(t, f, o)
}
