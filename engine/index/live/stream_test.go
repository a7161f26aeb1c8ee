package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
)

// crowded returns an index of two segments and memtables, and a model with the same documents. Some queries find very
// many fingerprints: thousands of documents share one, and others form a ball. Some documents are deleted, among them
// all documents of a fingerprint.
func crowded(t *testing.T, layout table.Layout) (*Index, *model) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	m := &model{docs: map[rows.DocID]rows.Doc{}}
	document := func(i int) rows.Doc {
		switch i % 4 {
		case 0:
			return rows.Doc{Fingerprint: 0}
		case 1:
			return rows.Doc{Fingerprint: simhash.Fingerprint(sets.Flip(rng, 0, rng.IntN(4)))}
		case 2:
			return rows.Doc{Fingerprint: simhash.Fingerprint(i % 300)}
		}
		return rows.Doc{Fingerprint: simhash.Fingerprint(rng.Uint64())}
	}
	c := Config{Design: halves(t), Table: table.Options{Layout: layout}}
	var segments []*segment.Segment
	each := long.Or(1500, 5000) // pieces of one hit cost the square of it
	for range 2 {
		fingerprints := make([]uint64, each)
		for i := range fingerprints {
			d := document(i)
			fingerprints[i] = uint64(d.Fingerprint)
			m.insert(d)
		}
		var heap sections.Memory
		must.Do(t, segment.Write(t.Context(), &heap, segment.Input{Fingerprints: fingerprints},
			segment.Options{Design: c.Design, Table: c.Table}))
		s, err := segment.Open(heap.Source())
		must.Do(t, err)
		segments = append(segments, s)
	}
	x := memoryIndex(t, c, segments...)
	for i := range each * 3 / 5 {
		d := document(i)
		insert(t, x, d)
		m.insert(d)
	}
	var gone []rows.DocID
	for n, d := range m.docs {
		if d.Fingerprint == 1<<7 || rng.IntN(20) == 0 {
			gone = append(gone, n)
		}
	}
	if n, err := x.writer.deleteFound(t.Context(), func() ([]rows.DocID, error) { return gone, nil }); err != nil ||
		n != len(gone) {
		t.Fatal(n, err)
	}
	for _, n := range gone {
		delete(m.docs, n)
	}
	return x, m
}

// hits returns the fingerprints of the model within distance k of f, each with its first docs documents.
func (m *model) hits(f simhash.Fingerprint, k, docs int) (list []search.Hit) {
	first := docs == search.FirstDoc
	if first {
		docs = 1
	}
	places := map[simhash.Fingerprint]int{}
	for _, n := range m.near(rows.Doc{Fingerprint: f}, k) {
		d := m.docs[n]
		i, known := places[d.Fingerprint]
		if !known {
			i = len(list)
			places[d.Fingerprint] = i
			list = append(list, search.Hit{Fingerprint: d.Fingerprint, Distance: simhash.Distance(d.Fingerprint, f)})
		}
		h := &list[i]
		if h.Documents++; len(h.Docs) < docs {
			h.Docs = append(h.Docs, n)
		}
	}
	slices.SortFunc(list, func(a, b search.Hit) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	for i := range list {
		if docs <= 0 {
			list[i].Documents = 0
		} else if first {
			list[i].Documents = 1
		}
	}
	return list
}

// whole joins the pieces of an answer, and reports pieces that do not follow each other.
type whole struct {
	hits   []search.Hit
	pieces int
	bound  search.Bound
}

func (w *whole) add(hits []search.Hit) error {
	docs := 0
	for _, h := range hits {
		docs += len(h.Docs)
		if n := len(w.hits); n > 0 && w.hits[n-1].Fingerprint == h.Fingerprint {
			last := &w.hits[n-1]
			if h.Offset != uint64(len(last.Docs)) || h.Documents != last.Documents {
				return fmt.Errorf("a piece has %d of %d documents before it, where there were %d of %d", h.Offset, h.Documents,
					len(last.Docs), last.Documents)
			}
			last.Docs = append(slices.Clip(last.Docs), h.Docs...)
			continue
		} else if h.Offset != 0 {
			return fmt.Errorf("the first piece of %v has %d documents before it", h.Fingerprint, h.Offset)
		}
		w.hits = append(w.hits, h)
	}
	if w.pieces++; len(hits) == 0 || len(hits) > w.bound.Hits || docs > w.bound.Docs {
		return fmt.Errorf("a piece of %d hits with %d documents, where %+v are allowed", len(hits), docs, w.bound)
	}
	return nil
}

func equalHits(a, b []search.Hit) bool {
	return slices.EqualFunc(a, b, func(a, b search.Hit) bool {
		return a.Fingerprint == b.Fingerprint && a.Distance == b.Distance && a.Documents == b.Documents &&
			slices.Equal(a.Docs, b.Docs)
	})
}

// TestStream checks that an answer in pieces is the whole answer, in order, however small the pieces are.
func TestStream(t *testing.T) {
	for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
		x, m := crowded(t, layout)
		w := viewOf(t, x)
		for _, q := range []simhash.Fingerprint{0, 3, 1 << 7, 1<<63 | 1<<40, 0xdeadbeef12345678} {
			for _, docs := range []int{search.AllDocs, 3, 0, search.FirstDoc} {
				want := m.hits(q, 3, docs)
				for _, piece := range []search.Bound{{Hits: 50, Docs: 70}, {Hits: 1, Docs: 1}} {
					c := x.Searcher()
					c.Limits.Piece = piece
					got := whole{bound: piece}
					err := c.Stream(w, q, rows.Verifier{}, 3, docs, got.add)
					if err != nil || !equalHits(got.hits, want) {
						t.Fatalf("%s, %+v, query %v, %d documents a hit: %d pieces, %d hits, want %d, error %v",
							layout, piece, q, docs, got.pieces, len(got.hits), len(want), err)
					}
				}
			}
		}
	}
}

// TestStreamEnds checks that an error of emit and a cancelled context end a stream.
func TestStreamEnds(t *testing.T) {
	x, _ := crowded(t, table.LayoutHuffman)
	w := viewOf(t, x)
	for n := range 10 {
		for full, late := range map[error]int{errors.New("enough"): 0, context.Canceled: 1} {
			c := x.Searcher()
			c.Limits.Piece = search.Bound{Hits: 20, Docs: 70}
			ctx, cancel := context.WithCancel(t.Context())
			c.SetContext(ctx)
			pieces := 0
			err := c.Stream(w, 0, rows.Verifier{}, 3, search.AllDocs, func([]search.Hit) error {
				if pieces++; pieces <= n {
					return nil
				} else if late == 0 {
					return full
				}
				cancel()
				return nil
			})
			if cancel(); !errors.Is(err, full) || pieces <= n || pieces > n+1+late {
				t.Errorf("%v in piece %d of %d, error %v", full, n+1, pieces, err)
			}
		}
	}
}

// TestStreamDense checks that a query with more fingerprints than the limit is refused. The number of documents has no
// limit.
func TestStreamDense(t *testing.T) {
	x := memoryIndex(t, Config{Design: halves(t)})
	docs := make([]rows.Doc, 1000)
	for i := range docs {
		docs[i].Fingerprint = simhash.Fingerprint(1 << (i % 10))
	}
	insert(t, x, docs...)
	w := viewOf(t, x)
	for maximum, want := range map[int]error{9: search.ErrDense, 10: nil, 1000: nil} {
		c := x.Searcher()
		c.Limits.StreamMatches = maximum
		got := whole{bound: c.Limits.Piece}
		err := c.Stream(w, 0, rows.Verifier{}, 1, search.AllDocs, got.add)
		if !errors.Is(err, want) || want == nil && (len(got.hits) != 10 || len(got.hits[9].Docs) != 100) {
			t.Errorf("at most %d fingerprints: %d hits, error %v", maximum, len(got.hits), err)
		}
	}
}

// TestSearchSome checks that queries are answered in parts as small as the limits require. Queries that exceed the
// limit alone are left out.
func TestSearchSome(t *testing.T) {
	x, m := crowded(t, table.LayoutPlanar)
	rng := rand.New(rand.NewPCG(1, 2))
	var queries []uint64
	for i := range 60 {
		queries = append(queries, sets.Flip(rng, 0, i%9), rng.Uint64())
	}
	w := viewOf(t, x)
	c := x.Searcher()
	c.Limits.ChunkMatches, c.Limits.Chunk = 300, search.Bound{Hits: 300, Docs: 2000}
	parts, alone := 0, 0
	for pos := 0; pos < len(queries); parts++ {
		n, hits, docs := searchSome(t, c, w, queries[pos:], search.AllDocs, func(q uint64) []search.Hit {
			return m.hits(simhash.Fingerprint(q), 3, search.AllDocs)
		})
		if hits > 300 || docs > 2000 {
			t.Errorf("%d hits, %d documents are held", hits, docs)
		}
		if pos += n; n == 0 {
			if want := m.near(rows.Doc{Fingerprint: simhash.Fingerprint(queries[pos])}, 3); len(want) < 300 {
				t.Errorf("query %d of %d documents is too much", pos, len(want))
			}
			alone++
			pos++
		}
	}
	if parts < 5 || alone == 0 {
		t.Errorf("%d parts, %d queries alone", parts, alone)
	}
}

// searchSome compares the answers of SearchSome with the wanted answer of each query. It returns the number of queries,
// and the hits and documents in memory.
func searchSome(t *testing.T, c *search.Searcher, w version.View, queries []uint64, docs int,
	want func(query uint64) []search.Hit) (n, hits, held int) {
	t.Helper()
	a, n, err := c.SearchSome(w, queries, 3, docs, search.SweepResult{}, rows.Verifier{})
	must.Do(t, err)
	got := make([][]search.Hit, n)
	must.Do(t, a.Each(0, func(i int, hits []search.Hit) error {
		got[i] = hits
		for _, h := range hits {
			held += len(h.Docs)
		}
		return nil
	}))
	for i, hits := range got {
		if want := want(queries[i]); !equalHits(hits, want) {
			t.Errorf("query %x: %d hits, want %d", queries[i], len(hits), len(want))
		}
	}
	return n, len(a.Hits), held
}

// TestFirstDoc checks that with only the first document of each hit, queries near a fingerprint of thousands of
// documents are answered together. Each query has the same answer as alone, even if it is repeated or documents are
// deleted.
func TestFirstDoc(t *testing.T) {
	x, m := crowded(t, table.LayoutPlanar)
	rng := rand.New(rand.NewPCG(1, 2))
	queries := []uint64{0, 1 << 7, 0, sets.Flip(rng, 0, 1), sets.Flip(rng, 0, 2), sets.Flip(rng, 0, 4), 1 << 7,
		rng.Uint64()}
	queries = slices.Repeat(queries, 8)
	wants := map[uint64][]search.Hit{}
	for _, q := range queries[:8] {
		wants[q] = m.hits(simhash.Fingerprint(q), 3, search.FirstDoc)
	}
	w := viewOf(t, x)
	c := x.Searcher()
	defer c.Done()
	for pos := 0; pos < len(queries); {
		n, _, _ := searchSome(t, c, w, queries[pos:], search.FirstDoc, func(q uint64) []search.Hit { return wants[q] })
		if n == 0 {
			t.Fatal("no query is answered")
		}
		pos += n
	}
	hot := make([]uint64, search.BatchChunk)
	if _, n, err := c.SearchSome(w, hot, 0, search.FirstDoc, search.SweepResult{}, rows.Verifier{}); err != nil || n != len(hot) {
		t.Errorf("of %d equal queries %d were answered at once, error %v", len(hot), n, err)
	}
}

// TestSearchEndsBetweenQueries checks that a search of a memtable ends soon after its context, before the last of many
// queries.
func TestSearchEndsBetweenQueries(t *testing.T) {
	x := memoryIndex(t, Config{Design: halves(t)})
	insert(t, x, make([]rows.Doc, 3000)...)
	w := viewOf(t, x)
	c := x.Searcher()
	defer c.Done()
	queries := sets.Generate(128, func(i int) uint64 { return 1<<(i%64) | 1<<(i/64) })
	c.SetContext(faults.NewCancelContext(t, 2))
	if _, n, err := c.SearchSome(w, queries, 3, search.FirstDoc, search.SweepResult{}, rows.Verifier{}); !errors.Is(err,
		context.Canceled) || n != 0 {
		t.Errorf("%d queries answered, error %v", n, err)
	}
}
