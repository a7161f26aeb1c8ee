package live

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
)

// TestConsistentReads has a document replaced again and again while others look for it, by itself
// and twice in one insert: a reader sees one of it, never two, never none. An insert of more than
// fits into a memtable is seen whole or not at all: its first and last documents are alike.
func TestConsistentReads(t *testing.T) {
	t.Parallel()
	x := memoryIndex(t, Config{Design: halves(t), IDs: true, Table: planar, simulation: simulation{flushDocs: smallDocs}})
	both := []uint64{0x0123456789abcdef, 0xfedcba9876543210}
	const ends = 0x5555aaaa3333cccc
	replace := func(i int) {
		docs := []rows.Doc{{Fingerprint: ends}}
		if i%2 == 0 {
			docs = append(docs, rows.Doc{Fingerprint: simhash.Fingerprint(both[rand.IntN(2)]), ID: "the document"})
		}
		for range i % 3 * 300 { // now and then it is in a segment when it is replaced
			docs = append(docs, rows.Doc{Fingerprint: simhash.Fingerprint(rand.Uint64())})
		}
		docs = append(docs, rows.Doc{Fingerprint: simhash.Fingerprint(both[i%2]), ID: "the document"},
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
				a, err := c.Search(w, append([]uint64{ends}, both...), 0, search.AllDocs, search.Swept{}, rows.Lengths{})
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

// TestHeldVersion: who holds a view reads it as it was, though its memtable was flushed and its
// segments were merged away meanwhile. What it held is given back with it.
func TestHeldVersion(t *testing.T) {
	x, _ := makeIndex(t, Config{Design: halves(t), IDs: true}, OpenOptions{Write: true, Sync: -1})
	docs := someDocs(3000, 5)
	insert(t, x, docs[:1000]...)
	must.Do(t, x.Flush(t.Context()))
	insert(t, x, docs[1000:]...)
	w, err := x.View()
	must.Do(t, err)
	m := w.Version.Memtables[0]
	must.Do(t, x.Merge(t.Context(), 1))
	if x.Held() == 0 || m.IDBytes() == 0 {
		t.Fatal("what a view has is gone")
	}
	c := x.Searcher()
	defer c.Done()
	for i := 0; i < len(docs); i += 100 {
		a, err := c.Search(w, []uint64{uint64(docs[i].Fingerprint)}, 0, 1, search.Swept{}, rows.Lengths{})
		if err != nil || len(a.Hits) != 1 || a.Hits[0].Fingerprint != docs[i].Fingerprint {
			t.Fatalf("document %d: %+v, %v", i, a.Hits, err)
		}
		if id, err := c.ID(w, rows.DocID(i)); err != nil || id != docs[i].ID {
			t.Fatalf("document %d has the ID %q, %v", i, id, err)
		}
	}
	w.Release()
	must.Eventually(t, "what was held is given back", func() bool { return x.Held() == 0 })
	if m.IDBytes() != 0 {
		t.Error("the memory of a memtable that nobody has is not given back")
	}
}
