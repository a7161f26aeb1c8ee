package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

// TestConsistentReads replaces a document again and again while readers look for it: each reader sees exactly one
// version. Readers see an insert that fills more than a memtable as a whole or not at all.
func TestConsistentReads(t *testing.T) {
	t.Parallel()
	x := memoryIndex(t, Config{Design: halves(t), IDs: true, Table: planar, simulation: simulation{flushDocs: smallDocs}})
	pair := []uint64{0x0123456789abcdef, 0xfedcba9876543210}
	const ends = 0x5555aaaa3333cccc
	replace := func(i int) {
		docs := []rows.Doc{{Fingerprint: ends}}
		if i%2 == 0 {
			docs = append(docs, rows.Doc{Fingerprint: simhash.Fingerprint(pair[rand.IntN(2)]), ID: "the document"})
		}
		for range i % 3 * 300 { // now and then it is in a segment when it is replaced
			docs = append(docs, rows.Doc{Fingerprint: simhash.Fingerprint(rand.Uint64())})
		}
		docs = append(docs, rows.Doc{Fingerprint: simhash.Fingerprint(pair[i%2]), ID: "the document"},
			rows.Doc{Fingerprint: ends})
		if _, err := x.Insert(t.Context(), docs); err != nil {
			t.Error(err)
		}
	}
	replace(0)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			c := x.Searcher()
			defer c.Done()
			for ctx.Err() == nil {
				w, err := x.View()
				if err != nil {
					t.Error(err)
					return
				}
				a, err := c.Search(w, append([]uint64{ends}, pair...), 0, search.AllDocs, search.SweepResult{}, rows.Verifier{})
				w.Release()
				if err != nil || len(a.Hits) != 2 || a.Hits[0].Documents%2 != 0 || a.Hits[1].Documents != 1 {
					t.Errorf("%+v, %v", a.Hits, err)
					return
				}
			}
		})
	}
	rounds := long.Or(400, 1500)
	for i := range rounds {
		if replace(i + 1); t.Failed() {
			break
		}
	}
	stop()
	group.Wait()
}

// TestHeldVersion holds a view while its memtable is flushed and its segments are merged. The view does not change,
// and its memory is freed with it.
func TestHeldVersion(t *testing.T) {
	x, _ := makeIndex(t, Config{Design: halves(t), IDs: true}, OpenOptions{Write: true, NoSync: true})
	docs := someDocs(3000, 5)
	insert(t, x, docs[:1000]...)
	must.Do(t, x.Flush(t.Context()))
	insert(t, x, docs[1000:]...)
	w, err := x.View()
	must.Do(t, err)
	m := w.Version.Memtables[0]
	must.Do(t, x.Merge(t.Context(), 1))
	if x.HeldVersions() == 0 || m.IDBytes() == 0 {
		t.Fatal("a document of the view is missing")
	}
	c := x.Searcher()
	defer c.Done()
	for i := 0; i < len(docs); i += 100 {
		a, err := c.Search(w, []uint64{uint64(docs[i].Fingerprint)}, 0, 1, search.SweepResult{}, rows.Verifier{})
		if err != nil || len(a.Hits) != 1 || a.Hits[0].Fingerprint != docs[i].Fingerprint {
			t.Fatalf("document %d: %+v, %v", i, a.Hits, err)
		}
		if id, err := c.ID(w, rows.DocID(i)); err != nil || id != docs[i].ID {
			t.Fatalf("document %d has the ID %q, %v", i, id, err)
		}
	}
	w.Release()
	must.Eventually(t, "what was held is given back", func() bool { return x.HeldVersions() == 0 })
	if m.IDBytes() != 0 {
		t.Error("the memory of a memtable that nobody has is not given back")
	}
}

// TestDeletionIsAtomic checks that a reader who began before a deletion sees all of its documents, and a later reader
// none. It deletes in segments and memtables, in each way, and restarts the index.
func TestDeletionIsAtomic(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true}, OpenOptions{Write: true, NoSync: true})
	c := x.Searcher()
	find := func(w version.View, f uint64) int {
		a, err := c.Search(w, []uint64{1 << 50, f}, 0, search.AllDocs, search.SweepResult{}, rows.Verifier{})
		must.Do(t, err)
		n := 0
		for _, h := range a.Hits {
			n += int(h.Documents)
		}
		return n
	}
	for round, delete := range []func(ids []string) (int, error){
		func(ids []string) (int, error) { return x.Delete(t.Context(), ids...) },
		func(ids []string) (int, error) { return x.DeletePrefix(t.Context(), "a/") },
		func([]string) (int, error) { return x.DeleteFingerprint(t.Context(), 7) },
	} {
		var ids []string
		for i := range 40 {
			ids = append(ids, fmt.Sprint("a/", i))
			insert(t, x, rows.Doc{ID: ids[i], Fingerprint: 7}, rows.Doc{ID: fmt.Sprint("b/", i), Fingerprint: 8})
			if i%15 == 14 {
				must.Do(t, x.Flush(t.Context()))
			}
		}
		before, err := x.View()
		must.Do(t, err)
		n, err := delete(ids)
		if err != nil || n != len(ids) {
			t.Fatalf("round %d: %d deleted, %v", round, n, err)
		}
		after, err := x.View()
		must.Do(t, err)
		if was, is := find(before, 7), find(after, 7); was != len(ids) || is != 0 {
			t.Errorf("round %d: a query that began before finds %d, one that began after it %d", round, was, is)
		}
		if n := find(after, 8); n != 40 {
			t.Errorf("round %d: %d others, want 40", round, n)
		}
		before.Release()
		after.Release()
	}
	c.Done()
	must.Do(t, x.end())
	x = openFolder(t, dir, OpenOptions{})
	if s := x.Stats(); s.Documents != 40 {
		t.Errorf("%d documents after a restart, want 40", s.Documents)
	}
}

// TestCheckIsAtomic checks and inserts a list of documents that replace others. Readers see it as a whole, and it
// waits for the disk once.
func TestCheckIsAtomic(t *testing.T) {
	x := memoryIndex(t, Config{Design: halves(t), IDs: true, Table: planar})
	var round atomic.Uint64
	list := func(round uint64) (fingerprints []uint64) {
		for i := range uint64(8) {
			fingerprints = append(fingerprints, (round+1)*0x9e3779b97f4a7c15^(i+1)*0xd1342543de82ef95)
		}
		return fingerprints
	}
	const rounds = 300
	var group sync.WaitGroup
	group.Go(func() {
		c := x.Searcher()
		defer c.Done()
		for round.Load() < rounds {
			fingerprints := list(round.Load())
			w, err := x.View()
			must.Do(t, err)
			a, err := c.Search(w, fingerprints, 0, 1, search.SweepResult{}, rows.Verifier{})
			w.Release()
			if n := len(a.Hits); err != nil || n != 0 && n != len(fingerprints) {
				t.Errorf("%d of %d documents are seen, %v", n, len(fingerprints), err)
				return
			}
		}
	})
	for ; round.Load() < rounds; round.Add(1) {
		var docs []rows.Doc
		for i, f := range list(round.Load()) {
			docs = append(docs, rows.Doc{ID: fmt.Sprint(i), Fingerprint: simhash.Fingerprint(f)})
		}
		docs = append(docs, rows.Doc{ID: "again", Fingerprint: docs[0].Fingerprint}) // near one of the list
		out, err := x.CheckAndInsert(t.Context(), docs, 0, 1)
		if err != nil || len(out) != len(docs) || out[8].Inserted || out[8].ID != "0" || !out[7].Inserted {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	group.Wait()
}
