package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/index/worker"
	"ndd/engine/memory"
	"ndd/engine/oracle"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/numa"
)

// freed waits until no version of a closed index is left.
func freed(t *testing.T, x *Index) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); x.Live().Held() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d versions are left", x.Live().Held())
		}
	}
}

// TestCloseWhileRead closes an index from within a batch: it ends as if nothing
// had happened, and then the file is unmapped, and arenas and workers are gone (goleak sees to these).
func TestCloseWhileRead(t *testing.T) {
	dir, prints := large(t, table.LayoutPlanar)
	for name, o := range map[string]OpenOptions{"mapped": {}, "loaded": {Load: true},
		"spread": {Spread: &worker.Options{Host: numa.New(numa.Options{Root: twoNodes(1 << 20)})}}} {
		o.Verify = VerifyFast
		x, err := Open(t.Context(), dir, o)
		must.Do(t, err)
		names := x.IDs()
		queries := prints[:3000]
		found := 0
		err = x.Batch(t.Context(), simhash.Fingerprints(queries), BatchOptions{K: 3, Docs: 1, Threads: 2},
			func(query int, hits []Hit) error {
				if query == 5 {
					if err := x.Close(); err != nil {
						t.Error(err)
					}
					if x.Live().Held() != 1 {
						t.Error("freed while it is read")
					}
				}
				if uint64(hits[0].Fingerprint) == queries[query] && hits[0].Docs[0] == DocID(query) {
					found++
				}
				return nil
			})
		if err != nil || found != len(queries) {
			t.Errorf("%s: %d of %d found, %v", name, found, len(queries), err)
		}
		freed(t, x)
		_, query := x.Query(t.Context(), 1, 0, 0)
		_, insert := x.Insert(t.Context(), Doc{Fingerprint: 1})
		_, admit := x.CheckAndInsert(t.Context(), Doc{Fingerprint: 1}, 0, 0)
		_, name := names.ID(0)
		for what, err := range map[string]error{
			"query": query, "insert": insert, "check and insert": admit, "name": name,
			"batch":  x.Batch(t.Context(), simhash.Fingerprints(queries), BatchOptions{}, nil),
			"check":  x.Check(t.Context()),
			"verify": scrubbed(t, x),
		} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s of a closed index: %v", what, err)
			}
		}
		if s := x.Stats(); s != (Stats{}) || segmentsOf(x) != nil {
			t.Errorf("%+v", s)
		}
		must.Do(t, x.Close())
	}
}

// TestVersions has all that an index does go on at once, until it is closed
// in the middle of it: what was there at first is found by every reader, at its
// place, by its name; memory that was given back too early would be a fault.
func TestVersions(t *testing.T) {
	d := halves(t)
	base := sets.Uniform(20_000, 6)
	rounds := long.Or(3, 5)
	for round := range rounds {
		x := buildAndOpen(t, base, segment.Options{Design: d, Table: table.Options{Layout: goldenLayouts[round%2]}})
		stop := make(chan struct{})
		stopped := func() bool {
			select {
			case <-stop:
				return true
			default:
				return false
			}
		}
		var inserted atomic.Int64
		var group sync.WaitGroup
		// loop runs f until the index is closed, which alone may make it fail.
		loop := func(what string, f func() error) {
			group.Go(func() {
				for !stopped() {
					if err := f(); err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Errorf("%s: %v", what, err)
						}
						return
					}
				}
			})
		}
		errOther := errors.New("another answer")
		at := atomic.Int64{}
		loop("insert", func() error {
			docs := make([]Doc, 500)
			for i := range docs {
				docs[i].Fingerprint = fingerprint(mixed(uint64(inserted.Load()) + uint64(i)))
			}
			_, err := x.Insert(t.Context(), docs...)
			if err == nil {
				inserted.Add(int64(len(docs)))
			}
			return err
		})
		for range 2 {
			loop("query", func() error {
				i := int(at.Add(1)) % len(base)
				hits, err := x.Query(t.Context(), fingerprint(base[i]), 3, AllDocs)
				if err == nil && (len(hits) == 0 || hits[0].Docs[0] != DocID(i)) {
					err = errOther
				}
				return err
			})
		}
		loop("batch", func() error {
			found := 0
			err := x.Batch(t.Context(), simhash.Fingerprints(base[:2000]), BatchOptions{K: 2, Docs: 1, Threads: 2},
				func(query int, hits []Hit) error {
					if hits[0].Docs[0] == DocID(query) {
						found++
					}
					return nil
				})
			if err == nil && found != 2000 {
				err = errOther
			}
			return err
		})
		names := x.IDs()
		loop("names", func() error {
			last := DocID(len(base)) + DocID(inserted.Load())
			for doc := range last {
				if doc%997 == 0 || doc+3 > last {
					if _, err := names.ID(doc); err != nil {
						return err
					}
				}
			}
			return nil
		})
		loop("check", func() error { return x.Check(t.Context()) })
		if round%3 == 2 { // all in full swing; or whatever they have come to
			time.Sleep(20 * time.Millisecond)
		} else {
			for inserted.Load() < 9*memtableDocs && !t.Failed() {
				time.Sleep(time.Millisecond)
			}
		}
		must.Do(t, x.Close())
		close(stop)
		group.Wait()
		freed(t, x)
	}
}

// mixed are fingerprints far from each other.
func mixed(i uint64) uint64 { return (i + 1) * 0x9e3779b97f4a7c15 }

// segmentsMax are as many as 33 memtables leave behind, however many of them are made into a
// segment at a time: those of 13, 8, 5, 3, 2, 1 and 1 stay, as none is outgrown by those behind it.
const segmentsMax = 8

// TestInsertedSegments looks at what inserts made in an index whose memtables have little memory: few
// segments, off the heap, and right.
func TestInsertedSegments(t *testing.T) {
	d := halves(t)
	x, err := New(3, Options{Design: &d, Budget: memory.NewBudget(memory.Set(64 << 20))})
	must.Do(t, err)
	defer x.Close()
	rng := rand.New(rand.NewPCG(6, 2))
	var all []uint64
	for len(all) < 33*memtableDocs {
		all = append(all, rng.Uint64())
		if _, err := x.Insert(t.Context(), Doc{Fingerprint: fingerprint(all[len(all)-1]),
			ID: fmt.Sprint("n", len(all))}); err != nil {
			t.Fatal(err)
		}
	}
	// what makes and merges segments is behind
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		s := x.Stats()
		if s.Segments > 0 && s.Segments <= segmentsMax && s.Buffered < uint64(len(all))/2 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", s)
		}
	}
	var queries []uint64
	for range 50 {
		queries = append(queries, sets.Near(rng, all[rng.IntN(len(all))], rng.IntN(5)))
	}
	hits, want := flat(t, x, queries, 3, 2), oracle.Search(all, queries, 3)
	if !slices.Equal(hits, want) {
		t.Errorf("%d hits, want %d", len(hits), len(want))
	}
	names := x.IDs()
	for _, h := range hits {
		if name, err := names.ID(DocID(h.Row)); err != nil || name != fmt.Sprint("n", h.Row+1) {
			t.Errorf("document %d is %q, %v", h.Row, name, err)
		}
	}
	if _, err := names.ID(DocID(len(all))); err == nil {
		t.Error("a name for a document that is not there")
	}
}
