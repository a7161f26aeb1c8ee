package engine

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/numa"
)

// freed waits until all versions of a closed index are freed.
func freed(t *testing.T, x *Index) {
	t.Helper()
	must.Eventually(t, "no version is held", func() bool { return x.live.HeldVersions() == 0 })
}

// TestCloseWhileRead closes an index during a batch. The batch ends normally. Then the file is unmapped, and arenas and
// workers are released (goleak checks this).
func TestCloseWhileRead(t *testing.T) {
	dir, fingerprints := large(t, table.LayoutPlanar)
	for name, o := range map[string]live.OpenOptions{"mapped": {}, "loaded": {Load: true},
		"spread": {Spread: &worker.Options{Host: numa.New(numa.Options{Root: twoNodes(1 << 20)})}}} {
		o.Verify = live.VerifyFast
		x := openAt(t, dir, o)
		names := x.IDs()
		queries := fingerprints[:3000]
		found := 0
		err := x.Batch(t.Context(), simhash.Fingerprints(queries), BatchOptions{K: 3, Docs: 1, Threads: 2},
			func(query int, hits []Hit) error {
				if query == 5 {
					if err := x.Close(); err != nil {
						t.Error(err)
					}
					if x.live.HeldVersions() != 1 {
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
		_, query := x.Query(t.Context(), 1, QueryOptions{K: 0, Docs: 0})
		_, insert := x.Insert(t.Context(), Doc{Fingerprint: 1})
		_, admit := x.CheckAndInsert(t.Context(), QueryOptions{}, Doc{ID: "a", Fingerprint: 1})
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

// TestVersions runs all operations of an index concurrently, including flushes and merges, until it is closed in
// between. Only the close makes calls fail. Every reader finds the first documents with their numbers and IDs. Memory
// that was freed too early would be a fault.
func TestVersions(t *testing.T) {
	base := sets.Uniform(20_000, 6)
	for round := range long.Or(2, 5) {
		dir := built(t, base, segment.Options{Design: halves(t), Table: table.Options{Layout: goldenLayouts[round%2]}})
		x := openAt(t, dir, live.OpenOptions{Budget: memory.NewBudget(memory.Set(64 << 20))})
		var inserted, asked atomic.Uint64
		names, errOther := x.IDs(), errors.New("another answer")
		var group sync.WaitGroup
		for name, f := range map[string]func() error{
			"insert": func() error {
				_, err := x.Insert(t.Context(), documents(sets.Uniform(500, 100+inserted.Add(1)))...)
				return err
			},
			"query": func() error {
				i := int(asked.Add(1) % uint64(len(base)))
				hits, err := x.Query(t.Context(), fingerprint(base[i]), QueryOptions{K: 3, Docs: AllDocs})
				if err == nil && (len(hits) == 0 || hits[0].Docs[0] != DocID(i)) {
					err = errOther
				}
				return err
			},
			"batch": func() error {
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
			},
			"names": func() (err error) {
				for doc := DocID(0); doc < DocID(len(base)) && err == nil; doc += 97 {
					_, err = names.ID(doc)
				}
				return err
			},
			"check": func() error { return x.Check(t.Context()) },
		} {
			group.Go(func() {
				for {
					if err := f(); errors.Is(err, ErrClosed) {
						return
					} else if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
				}
			})
		}
		must.Eventually(t, "some segments", func() bool { return x.Stats().Segments > 2 || t.Failed() })
		must.Do(t, x.Close())
		group.Wait()
		freed(t, x)
	}
}
