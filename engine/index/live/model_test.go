package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

// A model is the expected content of an index: documents in a map, searched one by one.
type model struct {
	next     rows.DocID
	docs     map[rows.DocID]rows.Doc
	expires  map[rows.DocID]rows.Time // time of expiry of the documents that expire
	now      rows.Time
	verifies bool // documents have sketches, and unlike ones are not near
}

// pass advances the time and removes documents that have expired by then.
func (m *model) pass(now rows.Time) {
	m.now = now
	for n, expiry := range m.expires {
		if expiry <= now {
			delete(m.docs, n)
			delete(m.expires, n)
		}
	}
}

func (m *model) holder(id string) (rows.DocID, bool) {
	for n, d := range m.docs {
		if d.ID == id && id != "" {
			return n, true
		}
	}
	return 0, false
}

// same returns the document that has the ID and the content of another one.
func (m *model) same(d rows.Doc) (rows.DocID, bool) {
	n, ok := m.holder(d.ID)
	held := m.docs[n]
	return n, ok && d.SameContent(&held)
}

func (m *model) insert(d rows.Doc) {
	if n, ok := m.holder(d.ID); ok {
		delete(m.docs, n)
	}
	if d.TTL > 0 {
		if m.expires == nil {
			m.expires = map[rows.DocID]rows.Time{}
		}
		m.expires[m.next] = m.now + rows.Time(d.TTL/time.Second)
	}
	m.docs[m.next] = d
	m.next++
}

// similar reports whether two texts are estimated to have the default similarity.
func (m *model) similar(a, b sketch.Sketch) bool {
	return !m.verifies || a == sketch.Sketch{} || b == sketch.Sketch{} || estimate(a, b) >= sketch.DefaultThreshold
}

// estimate returns the estimated Jaccard similarity of two sketches.
func estimate(a, b sketch.Sketch) float64 {
	jaccard, _ := sketch.Estimate(&a, &b)
	return jaccard
}

// someSketch returns no sketch, or one that is similar to about half of all others.
func someSketch(rng *rand.Rand) (s sketch.Sketch) {
	kind := rng.IntN(7)
	for i := range s {
		switch {
		case kind > 3:
			s[i] = 0xaaaa << (i % 7)
		case kind > 0:
			s[i] = 0x5bd1e995 << (i % 5)
		}
	}
	for range rng.IntN(2 * sketch.Bins / 5) {
		if kind > 0 {
			s[rng.IntN(len(s))] ^= 1 << rng.IntN(64)
		}
	}
	if kind > 0 {
		s[len(s)-1] |= 1 << 63 // the mark of a min-hash sketch
	}
	return s
}

// near returns the documents within k of one, and similar to it, ascending.
func (m *model) near(query rows.Doc, k int) (docs []rows.DocID) {
	for n, d := range m.docs {
		if simhash.Distance(d.Fingerprint, query.Fingerprint) <= k && m.similar(d.Sketch, query.Sketch) {
			docs = append(docs, n)
		}
	}
	slices.Sort(docs)
	return docs
}

// A modelTest changes an index together with its model, and compares the two.
type modelTest struct {
	t   *testing.T
	rng *rand.Rand
	dir string
	x   *Index
	m   model
	ids bool
	ttl bool
	k   int

	second atomic.Int64 // the model's time
}

func (w *modelTest) now() time.Time { return time.Unix(w.second.Load(), 0) }

func (w *modelTest) open() {
	w.t.Helper()
	x, err := Open(context.Background(), w.dir, OpenOptions{Write: true, NoSync: true,
		simulation: simulation{flushDocs: 3000, now: w.now}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.x = x
}

// doc makes a document. It is often near another one, and sometimes has the ID of a stored document.
func (w *modelTest) doc() rows.Doc {
	d := rows.Doc{Fingerprint: simhash.Fingerprint(w.rng.Uint64())}
	if len(w.m.docs) > 0 && w.rng.IntN(3) == 0 {
		near, ok := w.m.docs[rows.DocID(w.rng.IntN(int(w.m.next)))]
		if !ok {
			near = d
		}
		d.Fingerprint = simhash.Fingerprint(sets.Flip(w.rng, uint64(near.Fingerprint), w.rng.IntN(w.k+2)))
	}
	if w.m.verifies {
		d.Sketch = someSketch(w.rng)
	}
	if same, ok := w.m.docs[rows.DocID(w.rng.IntN(int(w.m.next)+1))]; ok && w.rng.IntN(8) == 0 {
		return same
	}
	if w.ids {
		d.ID = fmt.Sprint("https://example.org/", w.rng.IntN(int(w.m.next)+10))
	}
	if w.ttl && w.rng.IntN(8) > 0 {
		d.TTL = time.Duration(1+w.rng.IntN(1<<w.rng.IntN(7))) * time.Second
	}
	return d
}

func (w *modelTest) step() (name string) {
	ctx := context.Background()
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatalf("%s: %v", name, err)
		}
	}
	switch n := w.rng.IntN(100); {
	case w.ttl && n < 12:
		name = "let time pass"
		w.m.pass(w.m.now + rows.Time(w.rng.IntN(10)))
		w.second.Store(int64(w.m.now))
	case w.ttl && n < 15:
		name = "drop what has expired"
		_, err := w.x.upkeep.mergeDue()
		must(err)
	case n < 40:
		docs := make([]rows.Doc, 1+w.rng.IntN(1<<w.rng.IntN(11)))
		name = fmt.Sprintf("insert %d", len(docs))
		for i := range docs {
			docs[i] = w.doc()
		}
		out, err := w.x.Insert(ctx, docs)
		must(err)
		for i, d := range docs {
			if _, held := w.m.holder(d.ID); !out[i].Inserted || out[i].Doc != w.m.next || out[i].Replaced != held {
				w.t.Fatalf("%s: %+v, next is %d, replaced %t", name, out[i], w.m.next, held)
			}
			w.m.insert(d)
		}
	case n < 60:
		docs := make([]rows.Doc, 1+w.rng.IntN(20))
		name = fmt.Sprintf("check and insert %d", len(docs))
		for i := range docs {
			if docs[i] = w.doc(); i > 0 && w.rng.IntN(3) == 0 { // items are near each other, too
				of := docs[w.rng.IntN(i)]
				if w.rng.IntN(2) == 0 { // insert the same document again
					docs[i] = of
					continue
				}
				docs[i].Fingerprint = simhash.Fingerprint(sets.Flip(w.rng, uint64(of.Fingerprint), w.rng.IntN(w.k+1)))
			}
		}
		out, err := w.x.CheckAndInsert(ctx, docs, w.k, search.AllDocs)
		must(err)
		for i, d := range docs {
			if held, ok := w.m.same(d); ok {
				if o := out[i]; !o.Inserted || !o.Repeated || o.Doc != held || o.Near != nil {
					w.t.Fatalf("%s: %d: %+v, and it is stored as document %d", name, i, o, held)
				}
				continue
			}
			near := w.m.near(d, w.k)
			expected := docsOf(out[i].Near)
			strange := slices.ContainsFunc(expected, func(d rows.DocID) bool { return !slices.Contains(near, d) })
			if out[i].Repeated || out[i].Inserted != (len(near) == 0) || out[i].Inserted != (len(expected) == 0) || strange {
				w.t.Fatalf("%s: %d: inserted %t, near %v, want %v", name, i, out[i].Inserted, expected, near)
			}
			if out[i].Inserted {
				if out[i].Doc != w.m.next {
					w.t.Fatalf("%s: document %d, want %d", name, out[i].Doc, w.m.next)
				}
				w.m.insert(d)
			}
		}
	case n < 70:
		name = "delete"
		var ids []string
		want := 0
		for range 1 + w.rng.IntN(20) {
			ids = append(ids, w.doc().ID)
		}
		for _, id := range ids {
			if n, ok := w.m.holder(id); ok {
				delete(w.m.docs, n)
				want++
			}
		}
		got, err := w.x.Delete(ctx, ids...)
		must(err)
		if got != want {
			w.t.Fatalf("%s: %d, want %d", name, got, want)
		}
	case n < 75:
		name = "delete a fingerprint"
		d := w.doc()
		want := 0
		for n, stored := range w.m.docs {
			if stored.Fingerprint == d.Fingerprint {
				delete(w.m.docs, n)
				want++
			}
		}
		got, err := w.x.DeleteFingerprint(ctx, d.Fingerprint)
		must(err)
		if got != want {
			w.t.Fatalf("%s: %d, want %d", name, got, want)
		}
	case n < 80:
		name = "flush"
		must(w.x.Flush(ctx))
	case n < 82:
		name = "merge"
		must(w.x.Merge(ctx, 2))
	case n < 90:
		name = "stop and open"
		must(w.x.Close())
		w.open()
	default:
		name = "end and open"
		must(w.x.end())
		w.open()
	}
	return name
}

func docsOf(hits []search.Hit) (docs []rows.DocID) {
	for _, h := range hits {
		docs = append(docs, h.Docs...)
	}
	slices.Sort(docs)
	return docs
}

// check compares queries, numbers and IDs with the model.
func (w *modelTest) check(name string) {
	w.t.Helper()
	c := w.x.Searcher()
	defer c.Done()
	ids := w.x.IDs()
	v, err := w.x.View()
	must.Do(w.t, err)
	defer v.Release()
	for range 10 {
		d := w.doc()
		f := d.Fingerprint
		query := func(docs int) ([]search.Hit, error) {
			a, err := c.Search(v, []uint64{uint64(f)}, w.k, docs, search.SweepResult{},
				w.x.config.Verifier([]sketch.Sketch{d.Sketch}))
			return a.Hits, err
		}
		hits, err := query(search.AllDocs)
		want := w.m.near(d, w.k)
		if err != nil || !slices.Equal(docsOf(hits), want) {
			w.t.Fatalf("after %s: %v: %v, %v, want %v", name, f, hits, err, want)
		}
		for _, h := range hits {
			if h.Documents == 0 || h.Documents != uint64(len(h.Docs)) {
				w.t.Fatalf("after %s: %v: %+v", name, f, h)
			}
		}
		for _, doc := range want {
			id, err := ids.ID(doc)
			if held := w.m.docs[doc].ID; err != nil || w.ids && id != held {
				w.t.Fatalf("after %s: document %d has ID %q, want %q: %v", name, doc, id, held, err)
			}
		}
		if bare, err := query(0); err != nil || len(bare) != len(hits) {
			w.t.Fatalf("after %s: %v: %d hits without documents, %d with: %v", name, f, len(bare), len(hits), err)
		}
	}
	w.list(name)
	if !w.ids {
		return
	}
	for range 10 {
		id := w.doc().ID
		got, ok, err := w.x.Find(id)
		if want, held := w.m.holder(id); err != nil || ok != held || got != want {
			w.t.Fatalf("after %s: %s is document %d, %t, %v; want %d, %t", name, id, got, ok, err, want, held)
		}
	}
	if s := w.x.Stats(); s.Documents != uint64(len(w.m.docs)) {
		w.t.Fatalf("after %s: %+v, want %d documents", name, s, len(w.m.docs))
	}
}

// TestModel makes the same random changes to an index and to a map, with crashes and openings in between, and compares
// both.
func TestModel(t *testing.T) {
	t.Parallel()
	runs, steps := long.Or(4, 12), 60
	for run := range runs {
		seed := rand.Uint64()
		layout := []table.Layout{table.LayoutPlanar, table.LayoutHuffman}[run%2]
		t.Run(fmt.Sprintf("seed=%d/%s/sketches=%t", seed, layout, run%4 >= 2), func(t *testing.T) {
			w := &modelTest{t: t, rng: rand.New(rand.NewPCG(seed, 1)), dir: filepath.Join(t.TempDir(), "index"),
				ids: run%3 != 2, k: 3}
			w.m.docs, w.m.now, w.ttl = map[rows.DocID]rows.Doc{}, 1_000_000, run%4%3 != 0
			w.second.Store(int64(w.m.now))
			w.m.verifies = run%4 >= 2
			c := Config{Design: halves(t), Table: table.Options{Layout: layout}, IDs: w.ids, Sketches: w.m.verifies}
			must.Do(t, Create(w.dir, c))
			w.open()
			defer func() { w.x.Close() }()
			for i := range steps {
				w.check(fmt.Sprintf("step %d, %s", i, w.step()))
			}
			must.Do(t, w.x.Check(t.Context()))
			must.Do(t, w.x.Close())
			remaining, err := os.ReadDir(w.dir)
			must.Do(t, err)
			m, err := ReadManifest(w.dir)
			must.Do(t, err)
			perSegment := 2
			if w.m.verifies {
				perSegment++
			}
			if want := 2 + perSegment*len(m.Segments); len(remaining) > want+1 { // manifest, lock, files of segments, the log's end
				t.Errorf("%d files are left, want %d: %v", len(remaining), want, remaining)
			}
			x, err := Open(t.Context(), w.dir, OpenOptions{simulation: simulation{now: w.now}}) // open the index for reading
			must.Do(t, err)
			w.x = x
			w.check("opening for reading")
		})
	}
}
