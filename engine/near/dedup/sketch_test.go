package dedup

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/near/source"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

// sketched returns documents with the sketches of texts: edited copies, pages of templates, texts of few words, and
// some without a sketch. Their fingerprints are near one of three.
func sketched(t *testing.T, n int) (docs []Document) {
	t.Helper()
	f, err := simhash.New(simhash.Default())
	must.Do(t, err)
	rng := rand.New(rand.NewPCG(49, uint64(n)))
	words := func(n int) (list []string) {
		for range n {
			list = append(list, fmt.Sprintf("w%d", rng.IntN(1<<16)))
		}
		return list
	}
	form := words(60)
	var texts [][]string
	for i := range n {
		text := words(80)
		switch {
		case i%7 == 3:
			text = slices.Concat(form, words(5+rng.IntN(30)))
		case i%90 == 5:
			text = slices.Clone(form[:2+rng.IntN(9)])
		case i > 0 && i%2 == 0:
			text = slices.Clone(texts[rng.IntN(i)])
			for range rng.IntN(8) {
				text[rng.IntN(len(text))] = words(1)[0]
			}
		}
		texts = append(texts, text)
		d := Document{ID: fmt.Sprint("d", i), TextBytes: rng.IntN(9), Place: Place{File: fmt.Sprintf("f%d", i%9), Row: 1},
			Fingerprint: simhashOf(sets.Flip(rng, uint64(i%3)*0x3ff, rng.IntN(6)))}
		if _, _, _, d.Sketch = f.Sketch(strings.Join(text, " ")); i%50 == 49 {
			d.Sketch = sketch.Sketch{}
		}
		docs = append(docs, d)
	}
	return docs
}

// TestSketches checks that the documents of the definition are dropped: in order of preference, each for the nearest
// kept one within k whose estimate reaches the threshold.
func TestSketches(t *testing.T) {
	const n = settleLarge + 300
	docs := sketched(t, n)
	for i, c := range []struct {
		keep      string
		protect   []string
		k         int
		threshold float64
	}{
		{"first", nil, 8, 0.7},
		{"longest", nil, 6, 0.5},
		{"longest", []string{"f3"}, 3, 0.9},
		{"first", nil, 8, 1},
	} {
		order, err := keep.Parse(c.keep)
		must.Do(t, err)
		all := docs
		if i > 0 && !long.Form() {
			all = docs[:settleLarge/2]
		}
		corpus := appended(t, ReadOptions{Keep: order, Sketches: true, Source: source.Options{Protect: c.protect}}, all...)
		o := Options{K: c.k, Rule: Rule{{Jaccard: c.threshold}}}
		var want []string
		clusters, err := cluster.Find(t.Context(), corpus.fingerprints.All, cluster.Options{K: c.k})
		must.Do(t, err)
		prefer, err := corpus.prefer()
		must.Do(t, err)
		unverified := 0
		for _, cl := range clusters.Clusters() {
			list := slices.Clone(cl.Rows)
			if prefer != nil {
				slices.SortStableFunc(list, func(a, b Row) int { return prefer(int(a), int(b)) })
			}
			var kept []Row
			for _, row := range list {
				best, minimum, similarity := Row(0), 65, 0.0
				for _, other := range kept {
					a, b := &all[row], &all[other]
					d := bits.OnesCount64(uint64(a.Fingerprint ^ b.Fingerprint))
					if d > c.k {
						continue
					}
					j, _ := sketch.Estimate(&a.Sketch, &b.Sketch)
					if a.Sketch.IsZero() || b.Sketch.IsZero() {
						j = 0
					} else if j < c.threshold {
						continue
					}
					if d < minimum {
						best, minimum, similarity = other, d, j
					}
				}
				if minimum == 65 || corpus.sources.Protects(int(row)) {
					kept = append(kept, row)
					continue
				}
				if similarity == 0 {
					unverified++
				}
				want = append(want, fmt.Sprintf("%d %d %d %.4f", row, best, minimum, similarity))
			}
		}
		slices.Sort(want)
		if len(want) < 20 || len(want) > len(all)-20 || unverified == 0 {
			t.Fatalf("%+v: %d of %d go, %d of them unverified", c, len(want), len(all), unverified)
		}
		for _, threads := range []int{1, 3} {
			corpus.o.Threads = threads
			var got []string
			for d := range found(t, corpus, o).Dropped() {
				got = append(got, fmt.Sprintf("%d %d %d %.4f", d.Row, d.KeptRow, d.Distance, d.Jaccard))
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%+v, %d threads: %s", c, threads, diff)
			}
		}
	}
}

// TestUnverified checks that without sketches fingerprints decide alone, and the result says so.
func TestUnverified(t *testing.T) {
	docs := sketched(t, 200)
	for i := range docs {
		docs[i].Sketch = sketch.Sketch{}
	}
	with := found(t, appended(t, ReadOptions{}, docs...), Options{K: 3, Rule: Rule{{Jaccard: 0.7}}})
	without := found(t, appended(t, ReadOptions{}, docs...), Options{K: 3})
	if said(with) != said(without) || with.Verified() || with.Rejected > 0 {
		t.Errorf("verified %v, %d rejected", with.Verified(), with.Rejected)
	}
}

// TestReadSketches checks that documents that are read have the sketches of their texts.
func TestReadSketches(t *testing.T) {
	path := t.TempDir() + "/a.jsonl"
	write(t, map[string]string{path: fmt.Sprintf("{\"text\":%q}\n", rivers)})
	f, err := simhash.New(simhash.Default())
	must.Do(t, err)
	c := read(t, path, ingest.Config{}, ReadOptions{Sketches: true})
	if _, _, _, want := f.Sketch(rivers); *c.sketch(0) != want || want.IsZero() {
		t.Error("other sketches")
	}
}
