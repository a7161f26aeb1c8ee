package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/numa"
)

// TestSpread checks that answers do not depend on the nodes of tables and on the goroutines that search them.
// Documents inserted into a distributed index are distributed, too, when they are in a file and again after a merge,
// even if the index was empty.
func TestSpread(t *testing.T) {
	const added = 1000
	design, set := halves(t), sets.All(4_000, 8_200, 3, 8)[0]
	few, wants, want := set.Queries[:200], map[int][]oracle.Hit{}, oracle.Search(set.Base, set.Queries, 3)
	for pos := added; pos <= len(set.Base); pos += added {
		wants[pos] = oracle.Search(set.Base[:pos], few, 3)
	}
	for name, how := range spreads(numa.New(numa.Options{Root: twoNodes(1 << 20)})) {
		for from, layout := range map[int]table.Layout{0: table.LayoutPlanar, 1000: table.LayoutHuffman,
			2000: table.LayoutPlanar} {
			if how == nil {
				continue
			}
			t.Run(fmt.Sprintf("%s/from=%d/%s", name, from, layout), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "index")
				if from > 0 {
					dir = built(t, set.Base[:from], segment.Options{Design: design, Table: table.Options{Layout: layout}})
				} else if err := Create(dir, 3, Options{Design: &design, NoIDs: true}); err != nil {
					t.Fatal(err)
				}
				x := openAt(t, dir, live.OpenOptions{Write: true, NoSync: true, Spread: how})
				tables := func(segments int) {
					t.Helper()
					must.Eventually(t, "what was replaced is given back", func() bool { return x.live.HeldVersions() == 0 })
					r, ok := x.live.Spread()
					sum, bytes := 0, uint64(0)
					for _, n := range r.Nodes {
						sum, bytes = sum+n.Tables, bytes+n.Placement.Bytes
					}
					if want := segments * len(design.Tables); !ok || sum != want || bytes == 0 {
						t.Errorf("%d tables of %d bytes on nodes, want %d", sum, bytes, want)
					}
				}
				if from > 0 {
					asked(t, x, few, 3, wants[from])
				}
				for pos := from; pos < len(set.Base); pos += added {
					_, err := x.Insert(t.Context(), documents(set.Base[pos:pos+added])...)
					must.Do(t, err)
					must.Do(t, x.live.Flush(t.Context()))
					asked(t, x, few, 3, wants[pos+added])
				}
				if from == 2000 { // else they are merged in the background
					tables(3)
				}
				must.Do(t, x.live.Merge(t.Context(), 1))
				tables(1)
				asked(t, x, set.Queries, 3, want) // enough for a sweep
			})
		}
	}
}

// TestSpreadAddedMeanwhile checks that new segments are placed on a node that had no space for tables before, while
// queries are answered. The race detector checks the accesses of the queries.
func TestSpreadAddedMeanwhile(t *testing.T) {
	fingerprints := sets.Uniform(300_000, 3) // 1.5 MB a table
	dir := built(t, fingerprints, segment.Options{Design: halves(t), Table: table.Options{Layout: table.LayoutPlanar}})
	h := numa.New(numa.Options{Root: drawn(drawnNode{"0", 6}, drawnNode{"1-4095", 1})})
	x := openAt(t, dir, live.OpenOptions{Write: true, NoSync: true, Spread: &worker.Options{Host: h}})
	ofSecond := func() int {
		r, _ := x.live.Spread()
		return r.Nodes[1].Tables
	}
	if tables := ofSecond(); tables != 0 {
		t.Fatalf("%d tables on the second node", tables)
	}
	var stop atomic.Bool
	var asked atomic.Int64
	var group sync.WaitGroup
	for first := range 4 {
		group.Go(func() {
			for i := first; !stop.Load(); i = (i + 4) % len(fingerprints) {
				hits, err := x.Query(t.Context(), simhash.Fingerprint(fingerprints[i]), QueryOptions{K: 3, Docs: 1})
				if err != nil || len(hits) == 0 || hits[0].Docs[0] != DocID(i) {
					t.Errorf("document %d: %+v, %v", i, hits, err)
					return
				}
				asked.Add(1)
			}
		})
	}
	if _, err := x.Insert(t.Context(), documents(sets.Uniform(1000, 4))...); err != nil {
		t.Error(err)
	}
	must.Do(t, x.live.Flush(t.Context()))
	for minimum := asked.Load() + 100; asked.Load() < minimum && !t.Failed(); {
		runtime.Gosched()
	}
	stop.Store(true)
	group.Wait()
	if ofSecond() == 0 {
		t.Error("nothing was added to the second node")
	}
}

// TestSpreadContext checks that workers end a search soon after its caller's context is done, with the error of the
// context. If they answer several callers together, the others get their answers.
func TestSpreadContext(t *testing.T) {
	base := sets.Uniform(20_000, 5)
	queries := base[:1000]
	want := oracle.Search(base, queries, 3)
	for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
		dir := built(t, base, segment.Options{Design: halves(t), Table: table.Options{Layout: layout}})
		for way, spread := range spreads(numa.New(numa.Options{Root: os.DirFS("/")})) {
			x := openAt(t, dir, live.OpenOptions{Spread: spread})
			search := func(ctx context.Context) error {
				w, err := x.live.View()
				if err != nil {
					return err
				}
				defer w.Release()
				s := x.live.Searcher()
				defer s.Done()
				s.SetContext(ctx)
				_, err = s.Search(w, queries, 3, 0, search.SweepResult{}, rows.Verifier{})
				return err
			}
			whole := faults.NewCancelContext(t, 1<<40)
			// 62 calls are the caller's own: it collects the matches of the workers
			if err := search(whole); err != nil || whole.Calls() < 100 {
				t.Errorf("%s, %s: the context of a search is looked at %d times, error %v", layout, way, whole.Calls(), err)
			}
			for _, after := range []int64{0, 1, 7} {
				ctx := faults.NewCancelContext(t, after)
				// One check of the context for each table of each worker.
				if err := search(ctx); !errors.Is(err, context.Canceled) || ctx.Calls() > after+8 {
					t.Errorf("%s, %s: done after %d looks: %d looks, error %v", layout, way, after, ctx.Calls(), err)
				}
			}
			impatient(t, x, queries, want)
			must.Do(t, x.Close())
		}
	}
}

// impatient sends queries from many goroutines. Some of them cancel at random moments.
func impatient(t *testing.T, x *Index, queries []uint64, want []oracle.Hit) {
	t.Helper()
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			for q := g; q < 200; q += 4 {
				ctx := faults.NewCancelContext(t, 1+int64(g%2)<<40) // Query checks the context once
				hits, err := x.Query(ctx, simhash.Fingerprint(queries[q]), QueryOptions{K: 3, Docs: 1})
				if g%2 == 0 && errors.Is(err, context.Canceled) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				var of []oracle.Hit
				for _, h := range want {
					if h.Query == q {
						of = append(of, h)
					}
				}
				if got := appendHits(nil, q, hits); !slices.Equal(got, of) { // no fingerprint occurs twice
					t.Errorf("query %d: %d hits, want %d", q, len(got), len(of))
				}
			}
		})
	}
	all.Wait()
}
