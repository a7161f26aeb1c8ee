package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// writeRaw writes fingerprints as a .bin and returns its path.
func writeRaw(t testing.TB, fingerprints []uint64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "base.bin")
	must.Do(t, os.WriteFile(path, store.Bytes64(fingerprints), 0o644))
	return path
}

// openFile opens a file of fingerprints, until the test ends.
func openFile(t testing.TB, path string) *ndf.File {
	t.Helper()
	f, err := ndf.Open(path, ndf.OpenOptions{})
	must.Do(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// openAt opens an index, which is closed at the end of the test at the latest.
func openAt(t testing.TB, dir string, o live.OpenOptions) *Index {
	t.Helper()
	x, err := openAs(t.Context(), dir, o)
	must.Do(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

// documents have fingerprints and nothing else.
func documents(fingerprints []uint64) []Doc {
	docs := make([]Doc, len(fingerprints))
	for i, f := range fingerprints {
		docs[i].Fingerprint = simhash.Fingerprint(f)
	}
	return docs
}

// halves is the design of golden files, and of tests that have no need of another.
func halves(t testing.TB) permute.Design {
	t.Helper()
	d, err := permute.ByName("halves", 3, 1)
	must.Do(t, err)
	return d
}

// inMemory returns an index of one segment in memory.
func inMemory(t testing.TB, fingerprints []uint64, o segment.Options) *Index {
	t.Helper()
	var m sections.Memory
	must.Do(t, segment.Write(context.Background(), &m, segment.Input{Fingerprints: fingerprints}, o))
	s, err := segment.Open(m.Source())
	must.Do(t, err)
	l, err := live.New(live.Config{Design: o.Design, Table: table.Options{Layout: s.Layout()}}, s)
	must.Do(t, err)
	x := &Index{l}
	t.Cleanup(func() { x.Close() })
	return x
}

// segmentsOf returns the segments of an index, nil if it is closed.
func segmentsOf(x *Index) []*version.Segment {
	v, err := x.View()
	if err != nil {
		return nil
	}
	defer v.Release()
	return v.live.Version.Segments
}

// scrubbed checks all files of an index by their checksums.
func scrubbed(t testing.TB, x *Index) error {
	return x.live.Scrub(t.Context(), func(uint64, uint64) error { return nil })
}

// appendHits appends the hits of a query in the oracle's form.
func appendHits(dst []oracle.Hit, query int, list []Hit) []oracle.Hit {
	for _, h := range list {
		for _, d := range h.Docs {
			dst = append(dst, oracle.Hit{Query: query, Distance: h.Distance, Fingerprint: uint64(h.Fingerprint), Row: int(d)})
		}
	}
	return dst
}

// flat is a batch's answer in the oracle's form.
func flat(t testing.TB, x *Index, queries []uint64, k, threads int) (hits []oracle.Hit) {
	t.Helper()
	err := x.Batch(context.Background(), simhash.Fingerprints(queries),
		BatchOptions{K: k, Docs: AllDocs, Threads: threads}, func(q int, list []Hit) error {
			hits = appendHits(hits, q, list)
			return nil
		})
	must.Do(t, err)
	return hits
}

// TestOracle compares every design in every layout with brute force: sets of every shape, every k of the design,
// batches and single queries.
func TestOracle(t *testing.T) {
	for k := 0; k <= 4; k++ {
		if !long.Form() && k%2 == 0 {
			continue
		}
		designs := permute.Catalogue(k, 7)
		for _, d := range designs {
			if len(d.Tables) > 24 || !long.Form() && len(d.Tables) > 8 {
				continue // the same code with more tables
			}
			t.Run(fmt.Sprintf("k=%d/%s", k, d.Name), func(t *testing.T) {
				n, nq := long.Or(400, 600), long.Or(40, 80)
				all := sets.All(n, nq, k, uint64(k))
				for i := range 2 * len(all) {
					set, layout := all[i/2], goldenLayouts[i%2]
					x := inMemory(t, set.Base, segment.Options{Design: d, Table: table.Options{Layout: layout}})
					for ask := range k + 1 {
						want := oracle.Search(set.Base, set.Queries, ask)
						if got := flat(t, x, set.Queries, ask, 1+ask%3); !slices.Equal(got, want) {
							t.Fatalf("%s, %s, asked for %d: %d hits, want %d", set.Name, layout, ask, len(got), len(want))
						}
					}
					q := set.Queries[1]
					hits, err := x.Query(t.Context(), simhash.Fingerprint(q), QueryOptions{K: k, Docs: AllDocs})
					must.Do(t, err)
					if got, want := appendHits(nil, 0, hits), oracle.Search(set.Base, []uint64{q}, k); !slices.Equal(got, want) {
						t.Fatalf("%s, %s, one query: %d documents, want %d", set.Name, layout, len(got), len(want))
					}
				}
			})
		}
	}
}

func TestBadInput(t *testing.T) {
	d, _ := permute.ByName("choose-5-2", 3, 0)
	ctx := context.Background()
	file := openFile(t, writeRaw(t, []uint64{1, 2, 3}))
	dir := filepath.Join(t.TempDir(), "index")
	o := BuildOptions{Design: d}
	must.Do(t, Build(ctx, dir, []*ndf.File{file}, o))
	if err := Build(ctx, dir, []*ndf.File{file}, o); !errors.Is(err, os.ErrExist) {
		t.Errorf("over an index: %v", err)
	}
	x, err := Open(ctx, dir, OpenOptions{})
	must.Do(t, err)
	defer x.Close()
	if _, err := x.Query(t.Context(), 0, QueryOptions{K: 4, Docs: 0}); err == nil || !strings.Contains(err.Error(), "k = 4") {
		t.Errorf("k above the index's: %v", err)
	}
	if _, err := Open(ctx, dir+"none", OpenOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}

	named := openFile(t, filepath.Join(golden, "pages.ndf"))
	if err := Build(ctx, dir+"2", []*ndf.File{file, named}, o); !errors.Is(err, ErrMixed) {
		t.Errorf("raw and named: %v", err)
	}
	if err := Build(faults.NewCancelContext(t, 0), dir+"3", []*ndf.File{file}, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	remaining, _ := os.ReadDir(filepath.Dir(dir))
	if len(remaining) != 1 {
		t.Errorf("left behind: %v", remaining)
	}
}

// TestRandomSeed checks that two new indexes have tables by different bits, and the same answers.
func TestRandomSeed(t *testing.T) {
	var masks []uint64
	for range 2 {
		x, err := New(3, Options{})
		must.Do(t, err)
		defer x.Close()
		_, err = x.Insert(t.Context(), Doc{ID: "a", Fingerprint: 0xff}, Doc{ID: "b", Fingerprint: 0xff00})
		must.Do(t, err)
		hits, err := x.Query(t.Context(), 0xfe, QueryOptions{K: 3, Docs: 1})
		if err != nil || len(hits) != 1 || hits[0].Distance != 1 {
			t.Error(hits, err)
		}
		masks = append(masks, x.Design().Tables[0].Mask)
	}
	if masks[0] == masks[1] {
		t.Errorf("both have the mask %x", masks[0])
	}
}
