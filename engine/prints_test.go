package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// twoPrints returns an index, and the file that it was built from, of n documents with two fingerprints each: many near
// others by their first or by their second one, some with one of the other's kind.
func twoPrints(t *testing.T, n int, lengths bool, ratio float64) (*Index, *ndf.File) {
	t.Helper()
	recipe := simhash.Minwise()
	recipe.Prints = 2
	path := filepath.Join(t.TempDir(), "two.ndf")
	w, err := ndf.Create(path, recipe, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	rng := rand.New(rand.NewPCG(5, 6))
	var prints [2][]uint64
	for i := range n {
		for kind := range prints {
			f := rng.Uint64()
			if i > 0 && rng.IntN(3) == 0 {
				f = sets.Near(rng, prints[kind][rng.IntN(i)], rng.IntN(5))
			}
			if i > 0 && rng.IntN(10) == 0 { // of the other kind: not near
				f = sets.Near(rng, prints[1-kind][rng.IntN(i)], rng.IntN(3))
			}
			prints[kind] = append(prints[kind], f)
		}
		d := ndf.Document{ID: fmt.Sprint("doc ", i), Fingerprint: simhash.Fingerprint(prints[0][i]), Second: simhash.Fingerprint(prints[1][i]), TextBytes: 100 + 50*rng.IntN(4)}
		if err := w.Append(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	file, err := ndf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	dir := filepath.Join(t.TempDir(), "index")
	if err := Build(t.Context(), dir, []*ndf.File{file}, BuildOptions{Options: segment.Options{Design: halves(t)}, Lengths: lengths}); err != nil {
		t.Fatal(err)
	}
	x, err := Open(t.Context(), dir, OpenOptions{MaxLengthRatio: ratio})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x, file
}

// nearByTwo returns the lines of what is near document q, by definition: distance and document, nearest first.
func nearByTwo(prints []uint64, lengths []uint32, q, k int, ratio float64) (lines []string) {
	type found struct{ distance, doc int }
	var all []found
	for doc := range len(prints) / 2 {
		d := min(simhash.Distance(simhash.Fingerprint(prints[2*q]), simhash.Fingerprint(prints[2*doc])),
			simhash.Distance(simhash.Fingerprint(prints[2*q+1]), simhash.Fingerprint(prints[2*doc+1])))
		a, b := float64(lengths[q]), float64(lengths[doc])
		if d <= k && (ratio == 0 || max(a, b) <= ratio*min(a, b)) {
			all = append(all, found{d, doc})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.doc, b.doc)) })
	for _, f := range all {
		lines = append(lines, fmt.Sprint(f.distance, " doc ", f.doc))
	}
	return lines
}

// linesOf returns the same of hits.
func linesOf(t *testing.T, x *Index, hits []Hit) (lines []string) {
	t.Helper()
	ids := x.IDs()
	var rows []string
	for _, h := range hits {
		if h.Documents != uint64(len(h.Docs)) {
			t.Fatalf("%+v", h)
		}
		for _, doc := range h.Docs {
			id, err := ids.ID(doc)
			if err != nil {
				t.Fatal(doc, err)
			}
			rows = append(rows, fmt.Sprintf("%d %08d %s", h.Distance, doc, id))
		}
	}
	slices.Sort(rows) // of one distance, by document
	for _, row := range rows {
		var distance, doc, number int
		if _, err := fmt.Sscanf(row, "%d %d doc %d", &distance, &doc, &number); err != nil || doc != number {
			t.Fatal(row, err)
		}
		lines = append(lines, fmt.Sprint(distance, " doc ", number))
	}
	return lines
}

// TestTwoPrints holds queries and batches of documents with two fingerprints each against their definition: a document is near
// when either of its fingerprints is near the query's of the same kind, and is named once, at the lesser distance.
func TestTwoPrints(t *testing.T) {
	const n = 1500
	for _, ratio := range []float64{0, 1.5} {
		x, file := twoPrints(t, n, ratio > 0, ratio)
		prints := file.Fingerprints()
		var lengths []uint32
		for part := range file.TextBytes {
			lengths = append(lengths, part...)
		}
		if s := x.Stats(); s.Documents != n || x.PrintsEach() != 2 {
			t.Errorf("%+v", s)
		}
		if err := x.Check(t.Context()); err != nil {
			t.Error(err)
		}
		got := make([][]string, n)
		o := BatchOptions{K: 3, Docs: AllDocs, TextBytes: lengths}
		err := x.Batch(t.Context(), simhash.Fingerprints(prints), o, func(query int, hits []Hit) error {
			if got[query] != nil {
				t.Errorf("query %d has hits twice", query)
			}
			got[query] = linesOf(t, x, hits)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		near := 0
		for q := range n {
			want := nearByTwo(prints, lengths, q, 3, ratio)
			near += len(want) - 1
			if !slices.Equal(got[q], want) {
				t.Fatalf("ratio %g, query %d of a batch: %v, want %v", ratio, q, got[q], want)
			}
			if q%10 > 0 {
				continue
			}
			var hits []Hit
			err := x.QueryPrints(t.Context(), simhash.Fingerprints(prints[2*q:2*q+2]), lengths[q], 3, AllDocs, func(some []Hit) error {
				hits = append(hits, some...)
				return nil
			})
			if lines := linesOf(t, x, hits); err != nil || !slices.Equal(lines, want) {
				t.Fatalf("ratio %g, query %d: %v, %v, want %v", ratio, q, lines, err, want)
			}
		}
		if near < n/2 {
			t.Errorf("only %d near pairs", near)
		}
	}
}

// TestTwoPrintsLive inserts, checks and deletes documents with two fingerprints each in an index in memory: each counts as one
// document, under one number, and is near by either of its fingerprints, never by one of the other kind.
func TestTwoPrintsLive(t *testing.T) {
	recipe := simhash.Minwise()
	recipe.Prints = 2
	for _, noIDs := range []bool{false, true} {
		x, err := New(3, Options{Recipe: &recipe, NoIDs: noIDs})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		ctx := context.Background()
		ids := []string{"a", "b", "c"}
		if noIDs {
			ids = []string{"0", "1", "2"} // their numbers
		}
		out, err := x.Insert(ctx, Doc{ID: "a", Fingerprint: 0, Second: math.MaxUint64}, Doc{ID: "b", Fingerprint: 0xff00, Second: 0xff0000})
		if err != nil || out[0].Doc != 0 || out[1].Doc != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		for _, c := range []struct {
			first, second simhash.Fingerprint
			near          string // "" for none: then it is inserted
			distance      int
		}{
			{1, 0xf0f0f0f0, ids[0], 1},                  // by the first
			{0xf0f0f0f0, 0xff0007, ids[1], 3},           // by the second
			{3, math.MaxUint64 - 1, ids[0], 1},          // by both: the lesser distance
			{0xff0000, 0xff00, "", 0},                   // the other's kinds
			{0xff0001, 0xff01, ids[2], 1},               // and now that is there
			{0xf0f0f0f0f0f0f0f0, 0x0f0f0f0f0f0f, "", 0}, // far from all
		} {
			o, err := x.CheckAndInsert(ctx, Doc{ID: "c", Fingerprint: c.first, Second: c.second}, 3, 1)
			if err != nil || o.Inserted != (c.near == "") {
				t.Fatalf("%x %x: %+v, %v", c.first, c.second, o, err)
			}
			if c.near == "" {
				continue
			}
			id, err := x.IDs().ID(o.Near[0].Docs[0])
			if err != nil || id != c.near || o.Near[0].Distance != c.distance || len(o.Near) != 1 {
				t.Errorf("%x %x: %+v, %v", c.first, c.second, o, err)
			}
		}
		if s, want := x.Stats(), map[bool]uint64{false: 3, true: 4}[noIDs]; s.Documents != want || s.Buffered != 4 {
			t.Errorf("%+v", s) // of one ID the later one has replaced the other
		}
		if n, err := x.DeleteFingerprint(ctx, 0, 0); n != 0 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		if n, err := x.DeleteFingerprint(ctx, 0, math.MaxUint64); n != 1 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		if _, err := x.DeleteFingerprint(ctx, 0); !errors.Is(err, ErrMixed) {
			t.Errorf("one fingerprint to delete: %v", err)
		}
		if n, err := x.Delete(ctx, "b"); n != map[bool]int{false: 1}[noIDs] || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		if doc, ok, err := x.Find("c"); doc != 3 && !noIDs || ok == noIDs || err != nil {
			t.Errorf("found %d, %t, %v", doc, ok, err)
		}
	}
}

// TestTwoPrintsRefused: what cannot be done for documents with two fingerprints each is refused by name.
func TestTwoPrintsRefused(t *testing.T) {
	x, file := twoPrints(t, 10, false, 0)
	ctx := context.Background()
	o := BuildOptions{Options: segment.Options{Design: halves(t), NoDocs: true}}
	if err := Build(ctx, filepath.Join(t.TempDir(), "new"), []*ndf.File{file}, o); !errors.Is(err, ErrTwoPrints) {
		t.Errorf("an index without documents: %v", err)
	}
	if _, err := x.Query(ctx, 1, 3, 1); !errors.Is(err, ErrMixed) {
		t.Errorf("a query of one fingerprint: %v", err)
	}
	if err := x.Batch(ctx, []simhash.Fingerprint{1, 2, 3}, BatchOptions{K: 3}, nil); !errors.Is(err, ErrMixed) {
		t.Errorf("a batch of three fingerprints: %v", err)
	}
}
