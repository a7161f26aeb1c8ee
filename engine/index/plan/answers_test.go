package plan_test

import (
	"context"
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

var answersOf = flag.Int("answers.n", 5_000, "fingerprints of TestAnswers; 1,000,000 and 10,000,000 by hand")

// TestAnswers: whatever the design and the layout, an index gives the answers of
// a linear scan, for every k from 1 to 6 and every distance up to it. It leaves out what the
// planner would not let anyone wait for: designs that the machine is expected to spend
// more than 0.1 s a query on.
func TestAnswers(t *testing.T) {
	n := *answersOf
	for k := 1; k <= 6; k++ {
		if !long.Form() && k != 1 && k != 3 && k != 6 {
			continue
		}
		base, queries := answerSet(n, k)
		path := filepath.Join(t.TempDir(), "base.bin")
		must.Do(t, os.WriteFile(path, store.Bytes64(base), 0o644))
		want := linear(base, queries, k)
		for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
			p, err := plan.New(t.Context(), plan.Request{Fingerprints: uint64(n), K: k, Layout: layout, Seed: 7})
			must.Do(t, err)
			for _, o := range p.Options {
				t.Run(fmt.Sprintf("k=%d/%s/%s", k, layout, o.Name), func(t *testing.T) {
					if o.BatchNS > 1e8 {
						t.Logf("left out: a query would take %s", plan.Duration(o.BatchNS))
						return
					}
					x := answerIndex(t, path, o.Design, layout)
					for ask := k; ask >= 0; ask -= 2 {
						got := answersFrom(t, x, queries, ask)
						for q := range queries {
							if w := within(want[q], queries[q], ask); !slices.Equal(got[q], w) {
								t.Fatalf("distance %d, query %d, %016x: %x, want %x", ask, q, queries[q], got[q], w)
							}
						}
					}
				})
			}
		}
	}
}

// answerSet is half uniform fingerprints and half clustered ones, some of them equal.
// Queries are near some of them, at distances from 0 to k+1, or anywhere.
func answerSet(n, k int) (base, queries []uint64) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	var centres [50]uint64
	for i := range centres {
		centres[i] = rng.Uint64()
	}
	for i := range n {
		if i%2 == 0 {
			base = append(base, rng.Uint64())
		} else {
			base = append(base, sets.Near(rng, centres[rng.IntN(len(centres))], rng.IntN(8)))
		}
	}
	for i := range 48 {
		q := rng.Uint64()
		if i%4 != 3 {
			q = sets.Near(rng, base[rng.IntN(n)], i%(k+2))
		}
		queries = append(queries, q)
	}
	return base, queries
}

// linear is, for each query, the distinct fingerprints of base within distance k, ascending.
func linear(base, queries []uint64, k int) [][]uint64 {
	list := slices.Clone(base)
	slices.Sort(list)
	list = slices.Compact(list)
	answers := make([][]uint64, len(queries))
	for q, query := range queries {
		answers[q] = within(list, query, k)
	}
	return answers
}

// within are those of the list within distance k of the query.
func within(list []uint64, query uint64, k int) (near []uint64) {
	for _, f := range list {
		if bits.OnesCount64(f^query) <= k {
			near = append(near, f)
		}
	}
	return near
}

func answerIndex(t *testing.T, path string, d permute.Design, layout table.Layout) *engine.Index {
	f, err := ndf.Open(path)
	must.Do(t, err)
	defer f.Close()
	dir := filepath.Join(t.TempDir(), "index")
	o := segment.Options{Design: d, Table: table.Options{Layout: layout}}
	must.Do(t, engine.Build(context.Background(), dir, []*ndf.File{f}, engine.BuildOptions{Options: o}))
	x, err := engine.Open(context.Background(), dir, engine.OpenOptions{})
	must.Do(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

func answersFrom(t *testing.T, x *engine.Index, queries []uint64, k int) [][]uint64 {
	answers := make([][]uint64, len(queries))
	err := x.Batch(context.Background(), simhash.Fingerprints(queries), engine.BatchOptions{K: k},
		func(q int, hits []engine.Hit) error {
			for _, h := range hits {
				answers[q] = append(answers[q], uint64(h.Fingerprint))
			}
			slices.Sort(answers[q])
			return nil
		})
	must.Do(t, err)
	return answers
}
