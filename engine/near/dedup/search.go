package dedup

import (
	"context"

	"example.org/ndd/engine/near/cluster"
)

// A search is one run of [Find].
type search struct {
	c       *Corpus
	o       Options
	prefer  func(a, b int) int // nil means the order of the rows
	options cluster.Options    // options of clusters of near rows
	set     setOf              // sets of shingles, if texts are compared
	r       *Result
}

// newSearch reserves the memory of a search and returns a search without results.
func newSearch(c *Corpus, o Options) (s *search, err error) {
	if c.room.reserved == nil { // documents were appended
		if err := c.room.checkCompare(c.Len()); err != nil {
			return nil, err
		}
	}
	if o.Texts == nil && !c.HasSketches() {
		o.Rule = nil // there are no sketches to compare
	}
	s = &search{c: c, o: o, r: &Result{corpus: c, verified: len(o.Rule) > 0 || o.Exact}}
	if s.prefer, err = c.prefer(); err != nil {
		return nil, err
	}
	s.options = cluster.Options{K: o.K, Threads: c.o.Threads, Meter: o.Meter, Prefer: s.prefer, Arena: c.room.arena(),
		Results: &c.room.results}
	return s, nil
}

// clusters returns the clusters of some rows, or of all rows if rows is nil. keys are their fingerprints or hashes.
func (s *search) clusters(ctx context.Context, keys []uint64, rows []Row, o cluster.Options) (*cluster.Result, error) {
	number, prefer := func(i int) int { return i }, o.Prefer
	if rows != nil {
		number = func(i int) int { return int(rows[i]) }
		if prefer != nil {
			o.Prefer = func(a, b int) int { return prefer(number(a), number(b)) }
		}
	}
	clusters, err := cluster.Find(ctx, keys, o)
	if err == nil && rows != nil {
		clusters.Map(rows)
	}
	return clusters, err
}
