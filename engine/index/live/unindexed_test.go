package live

import (
	"math/rand/v2"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
)

// TestUnindexed: however documents come in, one caller leaves few of them in no block, and the
// memory of the blocks is counted when his call returns.
func TestUnindexed(t *testing.T) {
	x := memoryIndex(t, Config{Design: halves(t)})
	rng := rand.New(rand.NewPCG(14, 21))
	for n := 0; n < 6000; {
		docs := make([]rows.Doc, []int{1, 1, 1, 20, 64, 1500}[rng.IntN(6)])
		for i := range docs {
			docs[i].Fingerprint = simhash.Fingerprint(rng.Uint64())
		}
		if rng.IntN(2) == 0 {
			insert(t, x, docs...)
		} else if _, err := x.CheckAndInsert(t.Context(), docs, 3, 1); err != nil {
			t.Fatal(err)
		}
		n += len(docs)
		v := x.versions.Current()
		m := v.Memtables[len(v.Memtables)-1]
		if m.IndexDue() {
			t.Fatalf("many of %d documents are in no block after a call with %d", m.Len(), len(docs))
		}
		x.writer.mu.Lock()
		if v.Bytes != v.Memory() {
			t.Errorf("%d bytes are counted after %d documents, %d are taken", v.Bytes, n, v.Memory())
		}
		x.writer.mu.Unlock()
	}
}
