package engine

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/oracle"
	"ndd/engine/oracle/machine"
	"ndd/engine/oracle/sets"
)

// freed waits until no version of a closed index is left, and holds the
// segments given against it.
func freed(t *testing.T, x *Index, seen []*placed) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		x.books.Lock()
		left := len(x.retired)
		for _, p := range seen {
			if p.versions != 0 {
				left++
			}
		}
		x.books.Unlock()
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d versions or segments are left", left)
		}
	}
}

// TestCloseWhileRead closes an index from within a batch: it ends as if nothing
// had happened, and then the file is unmapped.
func TestCloseWhileRead(t *testing.T) {
	for _, load := range []bool{false, true} {
		dir, prints := large(t, table.LayoutPlanar)
		x, err := Open(t.Context(), dir, OpenOptions{Load: load, Verify: VerifyFast})
		if err != nil {
			t.Fatal(err)
		}
		parts := x.current.Load().segments
		names := x.IDs()
		queries := prints[:3000]
		found := 0
		err = x.Batch(t.Context(), queries, BatchOptions{K: 3, Docs: 1, Threads: 2}, func(query int, hits []Hit) error {
			if query == 5 {
				if err := x.Close(); err != nil {
					t.Error(err)
				}
				if x.books.Lock(); parts[0].versions != 1 {
					t.Error("freed while it is read")
				}
				x.books.Unlock()
			}
			if uint64(hits[0].Fingerprint) == queries[query] && hits[0].Docs[0] == DocID(query) {
				found++
			}
			return nil
		})
		if err != nil || found != len(queries) {
			t.Errorf("load=%v: %d of %d found, %v", load, found, len(queries), err)
		}
		freed(t, x, parts)
		_, query := x.Query(1, 0, 0)
		_, insert := x.Insert([]Doc{{Fingerprint: 1}})
		_, _, admit := x.CheckAndInsert(Doc{Fingerprint: 1}, 0, 0)
		_, name := names.ID(0)
		for what, err := range map[string]error{
			"query": query, "insert": insert, "check and insert": admit, "name": name,
			"batch":  x.Batch(t.Context(), queries, BatchOptions{}, nil),
			"check":  x.Check(t.Context()),
			"verify": x.Verify(t.Context(), 1, nil),
		} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s of a closed index: %v", what, err)
			}
		}
		if s := x.Stats(); s != (Stats{}) || x.Parts() != nil {
			t.Errorf("%+v", s)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestVersions has all that an index does go on at once, until it is closed
// in the middle of it: what was there at first is found by every reader, at its
// place, by its name; memory that was given back too early would be a fault.
func TestVersions(t *testing.T) {
	d := halves(t)
	base := sets.Uniform(20_000, 6)
	rounds := 5
	if testing.Short() {
		rounds = 3
	}
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
			_, err := x.Insert(docs)
			if err == nil {
				inserted.Add(int64(len(docs)))
			}
			return err
		})
		for range 2 {
			loop("query", func() error {
				i := int(at.Add(1)) % len(base)
				hits, err := x.Query(fingerprint(base[i]), 3, AllDocs)
				if err == nil && (len(hits) == 0 || hits[0].Docs[0] != DocID(i)) {
					err = errOther
				}
				return err
			})
		}
		loop("batch", func() error {
			found := 0
			err := x.Batch(t.Context(), base[:2000], BatchOptions{K: 2, Docs: 1, Threads: 2}, func(query int, hits []Hit) error {
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
		var seen []*placed
		loop("look", func() error {
			runtime.Gosched()
			if v := x.current.Load(); v != nil {
				for _, p := range v.segments {
					if !slices.Contains(seen, p) {
						seen = append(seen, p)
					}
				}
			}
			return nil
		})
		if round%3 == 2 { // all in full swing; or whatever they have come to
			time.Sleep(20 * time.Millisecond)
		} else {
			for inserted.Load() < 9*bufferDocs && !t.Failed() {
				time.Sleep(time.Millisecond)
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		close(stop)
		group.Wait()
		freed(t, x, seen)
	}
}

// mixed are fingerprints far from each other.
func mixed(i uint64) uint64 { return (i + 1) * 0x9e3779b97f4a7c15 }

// TestMergeWithoutRoom refuses a merge that a machine has no room for, by name,
// and not a buffer's worth.
func TestMergeWithoutRoom(t *testing.T) {
	b := memory.NewBudget(machine.With(t, 64<<20).Limit(0))
	o := segment.Options{Design: halves(t), Threads: 1}
	if r, err := reserveMerge(bufferDocs, o, b); err != nil || r.Bytes() != 0 {
		t.Error(err)
	}
	r, err := reserveMerge(1<<19, o, b)
	if err != nil || b.Left() != 64<<20-r.Bytes() || r.Bytes() < 46<<19 {
		t.Error(err)
	}
	r.Release()
	_, err = reserveMerge(1<<21, o, b)
	if err == nil || err.Error() != "merging 2,097,152 documents needs up to 125 MiB of memory, and there are 64 MiB (left by the memory limit of control group /job)" {
		t.Error(err)
	}
}

// TestInsertedSegments looks at what inserts made: few segments, off the heap,
// and right.
func TestInsertedSegments(t *testing.T) {
	d := halves(t)
	x, err := New(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	rng := rand.New(rand.NewPCG(6, 2))
	var all []uint64
	for len(all) < 33*bufferDocs {
		all = append(all, rng.Uint64())
		if _, err := x.Insert([]Doc{{Fingerprint: fingerprint(all[len(all)-1]), ID: "n"}}); err != nil {
			t.Fatal(err)
		}
	}
	for x.Stats().Buffered > bufferDocs { // the sealer is behind
		time.Sleep(time.Millisecond)
	}
	if s := x.Stats(); s.Segments > 6 {
		t.Errorf("%d segments", s.Segments)
	}
	var queries []uint64
	for range 50 {
		queries = append(queries, sets.Near(rng, all[rng.IntN(len(all))], rng.IntN(5)))
	}
	if got, want := flat(t, x, queries, 3, 2), oracle.Search(all, queries, 3); !slices.Equal(got, want) {
		t.Errorf("%d hits, want %d", len(got), len(want))
	}
}

// BenchmarkHold is what a query pays for its version.
func BenchmarkHold(b *testing.B) {
	d := halves(b)
	x, err := New(d, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	b.RunParallel(func(pb *testing.PB) {
		place := x.place()
		for pb.Next() {
			v, err := x.hold(place)
			if err != nil {
				b.Error(err)
				return
			}
			x.release(v, place)
		}
	})
}
