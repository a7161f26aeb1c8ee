package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/index/table"
	"ndd/engine/oracle/faults"
	"ndd/engine/oracle/sets"
)

// TestFirstDoc: with the first document of each hit alone, queries near a fingerprint that
// thousands of documents have are answered together, each with what it finds alone, however often
// it comes, and whatever was deleted.
func TestFirstDoc(t *testing.T) {
	x, m := crowded(t, table.LayoutPlanar)
	rng := rand.New(rand.NewPCG(1, 2))
	queries := []uint64{0, 1 << 7, 0, sets.Near(rng, 0, 1), sets.Near(rng, 0, 2), sets.Near(rng, 0, 4), 1 << 7,
		rng.Uint64()}
	for range 3 {
		queries = append(queries, queries...)
	}
	wants := map[uint64][]search.Hit{}
	for _, q := range queries[:8] {
		wants[q] = m.hits(simhash.Fingerprint(q), 3, search.FirstDoc)
	}
	w := viewOf(t, x)
	c := x.Searcher()
	defer c.Done()
	for at := 0; at < len(queries); {
		n, _, _ := searchSome(t, c, w, queries[at:], search.FirstDoc, func(q uint64) []search.Hit { return wants[q] })
		if n == 0 {
			t.Fatal("no query is answered")
		}
		at += n
	}
	hot := make([]uint64, search.BatchChunk)
	if _, n, err := c.SearchSome(w, hot, 0, search.FirstDoc, search.Swept{}, rows.Lengths{}); err != nil || n != len(hot) {
		t.Errorf("of %d equal queries %d were answered at once, error %v", len(hot), n, err)
	}
}

// TestSearchEndsBetweenQueries: a search of a memtable ends soon after its context, and not with
// the last of many queries.
func TestSearchEndsBetweenQueries(t *testing.T) {
	x := memoryIndex(t, Config{Design: halves(t)})
	insert(t, x, make([]rows.Doc, 3000)...)
	w := viewOf(t, x)
	c := x.Searcher()
	defer c.Done()
	queries := make([]uint64, 128)
	for i := range queries {
		queries[i] = 1<<(i%64) | 1<<(i/64)
	}
	c.Until(faults.NewEnding(t, 2))
	if _, n, err := c.SearchSome(w, queries, 3, search.FirstDoc, search.Swept{}, rows.Lengths{}); !errors.Is(err,
		context.Canceled) || n != 0 {
		t.Errorf("%d queries answered, error %v", n, err)
	}
}
