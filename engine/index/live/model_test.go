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

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/table"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// A model is what an index should be: documents in a map, searched one by one.
type model struct {
	next    DocID
	docs    map[DocID]Doc
	expires map[DocID]moment // of those that do
	now     moment
	ratio   float64 // of lengths, at most; 0: any
	two     bool    // documents have two fingerprints
}

// pass moves the time: what expires by then is gone.
func (m *model) pass(to moment) {
	m.now = to
	for n, at := range m.expires {
		if at <= to {
			delete(m.docs, n)
			delete(m.expires, n)
		}
	}
}

func (m *model) holder(id string) (DocID, bool) {
	for n, d := range m.docs {
		if d.ID == id && id != "" {
			return n, true
		}
	}
	return 0, false
}

func (m *model) insert(d Doc) {
	if n, ok := m.holder(d.ID); ok {
		delete(m.docs, n)
	}
	if d.TTL > 0 {
		if m.expires == nil {
			m.expires = map[DocID]moment{}
		}
		m.expires[m.next] = m.now + moment(d.TTL/time.Second)
	}
	m.docs[m.next] = d
	m.next++
}

// alike reports whether two texts are near in length.
func (m *model) alike(a, b uint32) bool {
	return m.ratio == 0 || a == 0 || b == 0 || float64(a) <= m.ratio*float64(b) && float64(b) <= m.ratio*float64(a)
}

// distance returns that of two documents: of the nearer ones of their fingerprints.
func (m *model) distance(a, b Doc) int {
	d := simhash.Distance(a.Fingerprint, b.Fingerprint)
	if m.two {
		d = min(d, simhash.Distance(a.Second, b.Second))
	}
	return d
}

// near returns the documents within k of one, and near in length, ascending.
func (m *model) near(to Doc, k int) (docs []DocID) {
	for n, d := range m.docs {
		if m.distance(d, to) <= k && m.alike(d.TextBytes, to.TextBytes) {
			docs = append(docs, n)
		}
	}
	slices.Sort(docs)
	return docs
}

// A modelled index is changed together with its model, and held against it.
type modelled struct {
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

func (w *modelled) now() time.Time { return time.Unix(w.second.Load(), 0) }

func (w *modelled) open() {
	w.t.Helper()
	x, err := Open(context.Background(), w.dir, OpenOptions{Write: true, Sync: -1, flushDocs: 3000, now: w.now, MaxLengthRatio: w.m.ratio})
	if err != nil {
		w.t.Fatal(err)
	}
	w.x = x
}

// doc makes a document: often near another one, now and then of an ID that is there.
func (w *modelled) doc() Doc {
	d := Doc{Fingerprint: simhash.Fingerprint(w.rng.Uint64())}
	if len(w.m.docs) > 0 && w.rng.IntN(3) == 0 {
		near, ok := w.m.docs[DocID(w.rng.IntN(int(w.m.next)))]
		if !ok {
			near = d
		}
		d.Fingerprint = simhash.Fingerprint(sets.Near(w.rng, uint64(near.Fingerprint), w.rng.IntN(w.k+2)))
	}
	if w.m.two {
		w.seconds(&d)
	}
	if w.m.ratio > 0 {
		d.TextBytes = []uint32{0, 100, 120, 150, 151, 1000}[w.rng.IntN(6)]
	}
	if w.ids {
		d.ID = fmt.Sprint("https://example.org/", w.rng.IntN(int(w.m.next)+10))
	}
	if w.ttl && w.rng.IntN(8) > 0 {
		d.TTL = time.Duration(1+w.rng.IntN(1<<w.rng.IntN(7))) * time.Second
	}
	return d
}

// seconds gives a document its second fingerprint: often near another one's, now and then near a first one, which is
// not compared with it.
func (w *modelled) seconds(d *Doc) {
	d.Second = simhash.Fingerprint(w.rng.Uint64())
	other, ok := w.m.docs[DocID(w.rng.IntN(int(w.m.next)+1))]
	if !ok {
		return
	}
	switch w.rng.IntN(4) {
	case 0:
		d.Second = simhash.Fingerprint(sets.Near(w.rng, uint64(other.Second), w.rng.IntN(w.k+2)))
	case 1:
		d.Second = simhash.Fingerprint(sets.Near(w.rng, uint64(other.Fingerprint), w.rng.IntN(w.k+1)))
	case 2: // a document that is there, to be deleted by its fingerprints
		d.Fingerprint, d.Second = other.Fingerprint, other.Second
	}
}

// query returns what an index has within k of a document.
func (w *modelled) query(c *Searcher, d Doc, docs int) (hits []Hit, err error) {
	if !w.m.two {
		return c.Query(d.Fingerprint, d.TextBytes, w.k, docs)
	}
	j := Joined{Most: docs, Emit: func(_ int, found []Hit) error {
		hits = found
		return nil
	}}
	for i, f := range []simhash.Fingerprint{d.Fingerprint, d.Second} {
		found, err := c.Query(f, d.TextBytes, w.k, AllDocs)
		if err != nil {
			return nil, err
		}
		if err := j.Add(i, found); err != nil {
			return nil, err
		}
	}
	return hits, j.End()
}

func (w *modelled) step() (what string) {
	ctx := context.Background()
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
	}
	switch n := w.rng.IntN(100); {
	case w.ttl && n < 12:
		what = "let time pass"
		w.m.pass(w.m.now + moment(w.rng.IntN(10)))
		w.second.Store(int64(w.m.now))
	case w.ttl && n < 15:
		what = "drop what has expired"
		must(w.x.DropExpired(ctx))
	case n < 40:
		docs := make([]Doc, 1+w.rng.IntN(1<<w.rng.IntN(11)))
		what = fmt.Sprintf("insert %d", len(docs))
		for i := range docs {
			docs[i] = w.doc()
		}
		out, err := w.x.Insert(ctx, docs)
		must(err)
		for i, d := range docs {
			if _, held := w.m.holder(d.ID); !out[i].Inserted || out[i].Doc != w.m.next || out[i].Replaced != held {
				w.t.Fatalf("%s: %+v, next is %d, replaced %t", what, out[i], w.m.next, held)
			}
			w.m.insert(d)
		}
	case n < 60:
		docs := make([]Doc, 1+w.rng.IntN(20))
		what = fmt.Sprintf("check and insert %d", len(docs))
		for i := range docs {
			if docs[i] = w.doc(); i > 0 && w.rng.IntN(3) == 0 { // items are near each other, too
				of := docs[w.rng.IntN(i)]
				if w.m.two && w.rng.IntN(2) == 0 {
					docs[i].Second = simhash.Fingerprint(sets.Near(w.rng, uint64(of.Second), w.rng.IntN(w.k+1)))
				} else {
					docs[i].Fingerprint = simhash.Fingerprint(sets.Near(w.rng, uint64(of.Fingerprint), w.rng.IntN(w.k+1)))
				}
			}
		}
		out, err := w.x.CheckAndInsert(ctx, docs, w.k, AllDocs)
		must(err)
		for i, d := range docs {
			near := w.m.near(d, w.k)
			told := docsOf(out[i].Near)
			strange := slices.ContainsFunc(told, func(d DocID) bool { return !slices.Contains(near, d) })
			if out[i].Inserted != (len(near) == 0) || out[i].Inserted != (len(told) == 0) || strange {
				w.t.Fatalf("%s: %d: inserted %t, near %v, want %v", what, i, out[i].Inserted, told, near)
			}
			if out[i].Inserted {
				if out[i].Doc != w.m.next {
					w.t.Fatalf("%s: document %d, want %d", what, out[i].Doc, w.m.next)
				}
				w.m.insert(d)
			}
		}
	case n < 70:
		what = "delete"
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
			w.t.Fatalf("%s: %d, want %d", what, got, want)
		}
	case n < 75:
		what = "delete a fingerprint"
		d := w.doc()
		f := []simhash.Fingerprint{d.Fingerprint, d.Second}
		if !w.m.two {
			f = f[:1]
		}
		want := 0
		for n, stored := range w.m.docs {
			if stored.Fingerprint == d.Fingerprint && stored.Second == d.Second {
				delete(w.m.docs, n)
				want++
			}
		}
		got, err := w.x.DeleteFingerprint(ctx, f...)
		must(err)
		if got != want {
			w.t.Fatalf("%s: %d, want %d", what, got, want)
		}
	case n < 80:
		what = "flush"
		must(w.x.Flush(ctx))
	case n < 82:
		what = "merge"
		must(w.x.Merge(ctx, 2))
	case n < 90:
		what = "stop and open"
		must(w.x.Close())
		w.open()
	default:
		what = "end and open"
		must(w.x.end())
		w.open()
	}
	return what
}

func docsOf(hits []Hit) (docs []DocID) {
	for _, h := range hits {
		docs = append(docs, h.Docs...)
	}
	slices.Sort(docs)
	return docs
}

// check holds queries, numbers and IDs against the model.
func (w *modelled) check(after string) {
	w.t.Helper()
	c := w.x.Searcher()
	defer c.Done()
	ids := w.x.IDs()
	for range 10 {
		d := w.doc()
		f := d.Fingerprint
		hits, err := w.query(c, d, AllDocs)
		want := w.m.near(d, w.k)
		if err != nil || !slices.Equal(docsOf(hits), want) {
			w.t.Fatalf("after %s: %v: %v, %v, want %v", after, f, hits, err, want)
		}
		for _, h := range hits {
			if h.Documents == 0 || h.Documents != uint64(len(h.Docs)) {
				w.t.Fatalf("after %s: %v: %+v", after, f, h)
			}
		}
		for _, doc := range want {
			id, err := ids.ID(doc)
			if held := w.m.docs[doc].ID; err != nil || w.ids && id != held {
				w.t.Fatalf("after %s: document %d has ID %q, want %q: %v", after, doc, id, held, err)
			}
		}
		if bare, err := w.query(c, d, 0); err != nil || len(bare) != len(hits) {
			w.t.Fatalf("after %s: %v: %d hits without documents, %d with: %v", after, f, len(bare), len(hits), err)
		}
	}
	w.list(after)
	if !w.ids {
		return
	}
	for range 10 {
		id := w.doc().ID
		got, ok, err := w.x.Find(id)
		if want, held := w.m.holder(id); err != nil || ok != held || got != want {
			w.t.Fatalf("after %s: %s is document %d, %t, %v; want %d, %t", after, id, got, ok, err, want, held)
		}
	}
	if s := w.x.Stats(); s.Documents != uint64(len(w.m.docs)) {
		w.t.Fatalf("after %s: %+v, want %d documents", after, s, len(w.m.docs))
	}
}

// TestModel changes an index and a map in the same random ways, with ends of the process and
// openings in between, and holds one against the other.
func TestModel(t *testing.T) {
	runs, steps := 12, 60
	if testing.Short() {
		runs = 4
	}
	for run := range runs {
		seed := rand.Uint64()
		layout := []table.Layout{table.LayoutPlanar, table.LayoutHuffman}[run%2]
		t.Run(fmt.Sprintf("seed=%d/%s/lengths=%t/two=%t", seed, layout, run%4 >= 2, (run+run/4)%2 == 1), func(t *testing.T) {
			w := &modelled{t: t, rng: rand.New(rand.NewPCG(seed, 1)), dir: filepath.Join(t.TempDir(), "index"), ids: run%3 != 2, k: 3}
			w.m.docs, w.m.now, w.ttl = map[DocID]Doc{}, 1_000_000, run%4%3 != 0
			w.second.Store(int64(w.m.now))
			if run%4 >= 2 {
				w.m.ratio = 1.5
			}
			var recipe *simhash.Recipe
			if w.m.two = (run+run/4)%2 == 1; w.m.two {
				r := simhash.Minwise()
				r.Prints = 2
				recipe = &r
			}
			c := Config{Recipe: recipe, Design: halves(t), Table: table.Options{Layout: layout}, IDs: w.ids, Lengths: w.m.ratio > 0}
			if err := Create(w.dir, c, store.Options{}); err != nil {
				t.Fatal(err)
			}
			w.open()
			defer func() { w.x.Close() }()
			for i := range steps {
				w.check(fmt.Sprintf("step %d, %s", i, w.step()))
			}
			if err := w.x.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if err := w.x.Close(); err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadDir(w.dir)
			if err != nil {
				t.Fatal(err)
			}
			m, err := ReadManifest(w.dir)
			if err != nil {
				t.Fatal(err)
			}
			if want := 2 + 2*len(m.Segments); len(left) > want+1 { // manifest, lock, two for each segment, the log's end
				t.Errorf("%d files are left, want %d: %v", len(left), want, left)
			}
			x, err := Open(t.Context(), w.dir, OpenOptions{now: w.now, MaxLengthRatio: w.m.ratio}) // for reading
			if err != nil {
				t.Fatal(err)
			}
			w.x = x
			w.check("opening for reading")
		})
	}
}
