package live

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"ndd/engine/corpus/simhash"
)

// TestUnindexed: however documents come in, one caller leaves few of them in no block, and the memory of the blocks is counted when
// his call returns.
func TestUnindexed(t *testing.T) {
	x, err := New(Config{Design: halves(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	rng := rand.New(rand.NewPCG(14, 21))
	for n := 0; n < 6*scanDocs; {
		docs := make([]Doc, []int{1, 1, 1, 20, 64, 1500}[rng.IntN(6)])
		for i := range docs {
			docs[i].Fingerprint = simhash.Fingerprint(rng.Uint64())
		}
		insert := func() ([]Outcome, error) { return x.CheckAndInsert(t.Context(), docs, 3, 1) }
		if rng.IntN(2) == 0 {
			insert = func() ([]Outcome, error) { return x.Insert(t.Context(), docs) }
		}
		if _, err := insert(); err != nil {
			t.Fatal(err)
		}
		n += len(docs)
		v := x.current.Load()
		m := v.memtables[len(v.memtables)-1]
		if some := m.unindexed(); some >= unindexedDocs {
			t.Fatalf("%d of %d documents are in no block after a call with %d", some, m.len(), len(docs))
		}
		x.writer.mu.Lock()
		if v.bytes != v.memory() {
			t.Errorf("%d bytes are counted after %d documents, %d are taken", v.bytes, n, v.memory())
		}
		x.writer.mu.Unlock()
	}
}

// TestUnindexedAreBounded: while one caller is at putting rows into blocks and does not get on, others insert no more than searches
// may scan, and then wait for it.
func TestUnindexedAreBounded(t *testing.T) {
	x, err := New(Config{Design: halves(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.Insert(t.Context(), make([]Doc, scanDocs)); err != nil {
		t.Fatal(err)
	}
	m := x.current.Load().memtables[0]
	m.indexing.Lock()
	unlock := sync.OnceFunc(m.indexing.Unlock)
	defer unlock()
	var group sync.WaitGroup
	group.Go(func() {
		for range 2 * unindexedMax {
			if _, err := x.Insert(t.Context(), make([]Doc, 1)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for m.unindexed() < unindexedMax {
		runtime.Gosched()
	}
	for range 100 {
		if runtime.Gosched(); m.unindexed() > unindexedMax {
			t.Fatalf("%d documents are in no block", m.unindexed())
		}
	}
	unlock()
	group.Wait()
	if n := m.unindexed(); n >= unindexedDocs {
		t.Errorf("%d documents are in no block in the end", n)
	}
}
