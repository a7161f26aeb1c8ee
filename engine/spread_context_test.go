package engine

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/numa"
)

// expiring is a context that is done once it has been looked at some times, and counts how often it is.
type expiring struct {
	context.Context
	after, looks atomic.Int64
}

func (c *expiring) Err() error {
	if c.looks.Add(1) > c.after.Load() {
		return context.Canceled
	}
	return nil
}

// TestSpreadContext: workers end a search when its caller's context is done, soon, and with its
// error; and where they answer several callers together, those who still wait get their answers.
func TestSpreadContext(t *testing.T) {
	base := sets.Uniform(20_000, 5)
	queries := base[:1000]
	want := oracle.Search(base, queries, 3)
	for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
		dir := built(t, base, segment.Options{Design: halves(t), Table: table.Options{Layout: layout}})
		for way, spread := range spreads(numa.New(numa.Options{Root: os.DirFS("/")})) {
			x, err := Open(t.Context(), dir, OpenOptions{Spread: spread})
			must.Do(t, err)
			search := func(ctx context.Context) error {
				w, err := x.live.View()
				if err != nil {
					return err
				}
				defer w.Release()
				s := x.live.Searcher()
				defer s.Done()
				s.Until(ctx)
				_, err = s.Search(w, queries, 3, 0, search.Swept{}, rows.Lengths{})
				return err
			}
			const never = 1 << 40
			whole := &expiring{Context: t.Context()}
			whole.after.Store(never)
			// 62 of them are the caller's own, who collects what workers find
			if err := search(whole); err != nil || whole.looks.Load() < 100 {
				t.Errorf("%s, %s: the context of a search is looked at %d times, error %v", layout, way, whole.looks.Load(), err)
			}
			for _, after := range []int64{0, 1, 7} {
				ctx := &expiring{Context: t.Context()}
				ctx.after.Store(after)
				// a look each for the tables of each worker
				if err := search(ctx); !errors.Is(err, context.Canceled) || ctx.looks.Load() > after+8 {
					t.Errorf("%s, %s: done after %d looks: %d looks, error %v", layout, way, after, ctx.looks.Load(), err)
				}
			}
			impatient(t, x, queries, want)
			must.Do(t, x.Close())
		}
	}
}

// impatient asks queries from many goroutines, some of which give up at any moment.
func impatient(t *testing.T, x *Index, queries []uint64, want []oracle.Hit) {
	t.Helper()
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			for q := g; q < 200; q += 4 {
				ctx := &expiring{Context: t.Context()}
				ctx.after.Store(1 + int64(g%2)<<40) // QueryText looks once
				hits, err := x.Query(ctx, simhash.Fingerprint(queries[q]), 3, 1)
				if g%2 == 0 && errors.Is(err, context.Canceled) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				found := slices.ContainsFunc(want, func(h oracle.Hit) bool {
					return h.Query == q &&
						h.Distance == hits[0].Distance
				})
				n := 0
				for _, h := range want {
					if h.Query == q {
						n++
					}
				}
				if len(hits) != n || !found { // no fingerprint is there twice
					t.Errorf("query %d: %d hits, want %d", q, len(hits), n)
				}
			}
		})
	}
	all.Wait()
}
