package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/table"
	"ndd/engine/oracle/sets"
)

// TestFirstDoc: with the first document of each hit alone, queries near a fingerprint that thousands of documents have are answered
// together, each with what it finds alone, however often it comes, and whatever was deleted.
func TestFirstDoc(t *testing.T) {
	x, m := crowded(t, table.LayoutPlanar)
	rng := rand.New(rand.NewPCG(1, 2))
	queries := []uint64{0, 1 << 7, 0, sets.Near(rng, 0, 1), sets.Near(rng, 0, 2), sets.Near(rng, 0, 4), 1 << 7, rng.Uint64()}
	for range 3 {
		queries = append(queries, queries...)
	}
	wants := map[uint64][]Hit{}
	for _, q := range queries[:8] {
		wants[q] = m.hits(simhash.Fingerprint(q), 3, FirstDoc)
	}
	w, err := x.View()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	c := x.Searcher()
	defer c.Done()
	for at := 0; at < len(queries); {
		a, n, err := c.SearchSome(w, queries[at:], 3, FirstDoc, Swept{}, Lengths{})
		if err != nil || n == 0 {
			t.Fatalf("%d queries at once, error %v", n, err)
		}
		got := make([][]Hit, n)
		a.Each(0, func(i int, hits []Hit) error { got[i] = hits; return nil })
		for i, hits := range got {
			if want := wants[queries[at+i]]; !equalHits(hits, want) {
				t.Errorf("query %d: %d hits, want %d", at+i, len(hits), len(want))
			}
		}
		at += n
	}
	hot := make([]uint64, BatchChunk)
	if _, n, err := c.SearchSome(w, hot, 0, FirstDoc, Swept{}, Lengths{}); err != nil || n != len(hot) {
		t.Errorf("of %d equal queries %d were answered at once, error %v", len(hot), n, err)
	}
}

// hotMemtable returns a view of an index with a memtable whose documents all have fingerprint 0.
func hotMemtable(t *testing.T) (View, *memtable) {
	t.Helper()
	x, err := New(Config{Design: halves(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	if _, err := x.Insert(t.Context(), make([]Doc, 3*scanDocs)); err != nil {
		t.Fatal(err)
	}
	w, err := x.View()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Release)
	return w, w.version.memtables[0]
}

// TestEqualQueriesAreSearchedOnce: of a chunk with the same queries again and again, each is searched for once.
func TestEqualQueriesAreSearchedOnce(t *testing.T) {
	w, m := hotMemtable(t)
	queries := make([]uint64, BatchChunk)
	for i := range queries {
		queries[i] = uint64(i % 2)
	}
	a := memSearch{view: w, k: 3, first: true, positions: make([]uint32, 1<<16)}
	found := m.search(nil, &a, queries, 0)
	if a.asked != 2 || len(found) != len(queries) {
		t.Fatalf("%d queries were searched for, %d matches; want 2, and one for each of %d", a.asked, len(found), len(queries))
	}
	for q, x := range found {
		if x.query != q || x.distance != q%2 || x.fingerprint != 0 || x.doc != m.first {
			t.Fatalf("match %d: %+v", q, x)
		}
	}
}

// endsAt is a context that has ended when it is asked for the nth time.
type endsAt struct {
	context.Context
	n int
}

func (c *endsAt) Err() error {
	if c.n--; c.n <= 0 {
		return context.Canceled
	}
	return nil
}

// TestSearchEndsBetweenQueries: a search of a memtable ends soon after its context, and not with the last of many queries.
func TestSearchEndsBetweenQueries(t *testing.T) {
	w, m := hotMemtable(t)
	queries := make([]uint64, 8*queriesAtOnce)
	for i := range queries {
		queries[i] = 1<<(i%64) | 1<<(i/64)
	}
	for _, first := range []bool{false, true} {
		a := memSearch{view: w, k: 3, first: first, positions: make([]uint32, 1<<16), ctx: &endsAt{t.Context(), 3}}
		m.search(nil, &a, queries, 0)
		if a.asked != 3*queriesAtOnce {
			t.Errorf("first %v: ended with query %d, want %d", first, a.asked, 3*queriesAtOnce)
		}
	}
	c := w.index.Searcher()
	defer c.Done()
	c.Until(&endsAt{t.Context(), 3})
	if _, n, err := c.SearchSome(w, queries, 3, FirstDoc, Swept{}, Lengths{}); !errors.Is(err, context.Canceled) || n != 0 {
		t.Errorf("%d queries answered, error %v", n, err)
	}
}
