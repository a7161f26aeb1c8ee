package live

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

// longIDs returns documents with incompressible IDs of the given length.
func longIDs(rng *rand.Rand, n, bytes int) []rows.Doc {
	docs := make([]rows.Doc, n)
	for i := range docs {
		id := make([]byte, 0, bytes+7)
		for len(id) < bytes {
			id = binary.LittleEndian.AppendUint64(id, rng.Uint64())
		}
		docs[i] = rows.Doc{Fingerprint: simhash.Fingerprint(rng.Uint64()), ID: string(id)}
	}
	return docs
}

// TestNoRoom fills the memory of an index without files. Inserts fail with ErrNoRoom; queries and deletions
// continue. Inserts continue when there is space again.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	budget := memory.NewBudget(memory.Set(64 << 20))
	x := memoryIndex(t, Config{Design: halves(t), IDs: true, Table: planar, Budget: budget})
	other, err := budget.Reserve("another", 32<<20)
	must.Do(t, err)
	rng := rand.New(rand.NewPCG(14, 3))
	fill := func() (last rows.Doc, inserted int) {
		t.Helper()
		for inserted < 64<<10 {
			docs := longIDs(rng, 100, 2000)
			if _, err = x.Insert(t.Context(), docs); err != nil {
				break
			}
			last, inserted = docs[99], inserted+len(docs)
		}
		if !errors.Is(err, ErrNoRoom) || !errors.Is(err, memory.ErrTooLarge) ||
			!strings.Contains(err.Error(), "no memory for more documents: what was inserted needs up to") {
			t.Fatalf("%d documents of 2,000 bytes in 32 MiB: %v", inserted, err)
		}
		return last, inserted
	}
	last, n := fill()
	if n < 1000 {
		t.Errorf("%d documents only", n)
	}
	if out, err := x.CheckAndInsert(t.Context(), []rows.Doc{last}, 3, 1); err != nil || !out[0].Repeated {
		t.Errorf("%+v, %v: a stored document needs no more memory", out, err)
	}
	_, err = x.CheckAndInsert(t.Context(), longIDs(rng, 1, 10), 3, 1)
	fails(t, "check and insert", err, ErrNoRoom)
	remove(t, x, last.ID)
	other.Release()
	extra := 0
	for began := time.Now(); extra < 1000 && time.Since(began) < 5*time.Minute; { // a merge may hold memory for a while
		_, n := fill()
		extra += n
	}
	if extra < 1000 {
		t.Errorf("%d documents in 32 MiB more", extra)
	}
	x.Close()
	if budget.Free() != 64<<20 {
		t.Errorf("%d bytes are not given back", 64<<20-budget.Free())
	}
}

// TestBoundedMemory inserts more than fits in the memory of an index with files. No insert is refused, and the
// memory stays below half of the budget plus a memtable.
func TestBoundedMemory(t *testing.T) {
	t.Parallel()
	x, _ := makeIndex(t, Config{Design: halves(t), IDs: true, Table: planar},
		OpenOptions{Write: true, NoSync: true, Budget: memory.NewBudget(memory.Set(48 << 20))})
	rng := rand.New(rand.NewPCG(14, 4))
	maximum, n := uint64(0), long.Or(15_000, 30_000)
	for i := 0; i < n; i += 100 {
		if _, err := x.Insert(t.Context(), longIDs(rng, 100, 4000)); err != nil {
			t.Fatalf("%d documents: %v", i, err)
		}
		w, err := x.View()
		must.Do(t, err)
		maximum = max(maximum, w.Version.Memory())
		for _, m := range w.Version.Memtables {
			if m.Memory() > 2*x.writer.state.space.memtableBytes() {
				t.Fatalf("a memtable of %d bytes, where %d fill one", m.Memory(), x.writer.state.space.memtableBytes())
			}
		}
		w.Release()
	}
	if limit := uint64(24<<20 + 4<<20); maximum > limit {
		t.Errorf("%d bytes in memory, at most %d wanted", maximum, limit)
	}
	if s := x.Stats(); s.Documents != uint64(n) || s.Unflushed > uint64(n)/2 {
		t.Errorf("%+v", s)
	}
}

// TestHalfOfBudget checks that inserted documents take at most half of the budget plus one insert, while nothing is
// flushed. The other half is for writing files.
func TestHalfOfBudget(t *testing.T) {
	t.Parallel()
	x, _ := makeIndex(t, Config{Design: halves(t), IDs: true, Table: planar},
		OpenOptions{Write: true, NoSync: true, Budget: memory.NewBudget(memory.Set(48 << 20))})
	x.upkeep.flushing.Lock() // nothing is sealed
	defer x.upkeep.flushing.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	rng := rand.New(rand.NewPCG(14, 5))
	for n := 0; ; n++ {
		_, err := x.Insert(ctx, longIDs(rng, 100, 4000))
		if err != nil {
			break // the insert waited for a flush, or was refused
		}
		if w, err := x.View(); err != nil || w.Version.Memory() > 24<<20+4<<20 {
			t.Fatalf("%d inserts: %d bytes in memory, %v", n, w.Version.Memory(), err)
		} else {
			w.Release()
		}
	}
}

// TestUnindexed checks that a single caller leaves few documents outside the blocks, and that the memory of the
// blocks is counted when the call returns.
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
