package live

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/oracle/sets"
)

// skewed returns fingerprints of which many are near others, or have blocks in common with many.
func skewed(rng *rand.Rand, n, k int) []Doc {
	docs := make([]Doc, n)
	for i := range docs {
		f := rng.Uint64()
		switch at := rng.IntN(i + 1); rng.IntN(5) {
		case 0:
			f = sets.Near(rng, uint64(docs[at].Fingerprint), rng.IntN(k+2))
		case 1:
			f = uint64(docs[at].Fingerprint)
		case 2:
			f &= 0xffffffff
		case 3:
			f = sets.Near(rng, 0, rng.IntN(k+2))
		}
		docs[i].Fingerprint = simhash.Fingerprint(f)
	}
	return docs
}

// TestMemtableSearch holds searches of memtables against a comparison with all documents, for every K and every k
// up to it: with blocks made at once, when all is there; made piece by piece, with some rows in none yet; and with rows
// of which a search does not know that they are in blocks by now.
func TestMemtableSearch(t *testing.T) {
	most := 6000
	if testing.Short() {
		most = 2500
	}
	for K := range 17 {
		rng := rand.New(rand.NewPCG(uint64(K), 7))
		docs := skewed(rng, most, K)
		one := &memtable{first: 1000, most: most, likely: most, k: K, each: 1}
		one.pages = make([]atomic.Pointer[page], (most+pageDocs-1)/pageDocs)
		all := &memtable{first: 1000, most: most, likely: most, k: K, each: 1, deferred: true}
		all.pages = make([]atomic.Pointer[page], len(one.pages))
		late := &memtable{first: 1000, most: most, likely: most, k: K, each: 1, pages: make([]atomic.Pointer[page], len(one.pages))}
		for _, m := range []*memtable{all, late} {
			if n := m.add(docs, nil, 1<<40); n != most {
				t.Fatalf("%d documents are in", n)
			}
		}
		all.finish()
		for n := 0; n < most-unindexedDocs; one.index() {
			n += one.add(docs[n:min(n+1+rng.IntN(300), most-unindexedDocs)], nil, 1<<40)
		}
		one.add(docs[one.len():], nil, 1<<40)
		if K <= blocksMax {
			late.blocks.Load().rows.Add(-100)
			if n := one.unindexed(); n != unindexedDocs {
				t.Fatalf("%d of the rows are in no block, want %d", n, unindexedDocs)
			}
		}
		for _, m := range []*memtable{one, all, late} {
			if got := m.blocks.Load() != nil; got != (K <= blocksMax) {
				t.Fatalf("K = %d: with blocks: %t", K, got)
			}
			for k := range K + 1 {
				for range 8 {
					query := uint64(docs[rng.IntN(most)].Fingerprint)
					if rng.IntN(4) > 0 {
						query = sets.Near(rng, query, rng.IntN(k+2))
					}
					clock := DocID(1000 + rng.IntN(most+100))
					checkMemtable(t, m, docs, View{clock: clock}, query, k)
				}
			}
		}
		one.free()
		all.free()
		late.free()
	}
}

// checkMemtable holds one search, and an enumeration, against the documents.
func checkMemtable(t *testing.T, m *memtable, docs []Doc, w View, query uint64, k int) {
	t.Helper()
	a := memSearch{view: w, k: k, positions: make([]uint32, 3)} // few, so that they fill up
	found := m.search(nil, &a, []uint64{query}, 0)
	slices.SortFunc(found, compareMatches)
	var want []Match
	var same, enumerated []DocID
	for i, d := range docs {
		distance := simhash.Distance(d.Fingerprint, simhash.Fingerprint(query))
		if doc := m.first + DocID(i); doc < w.clock && distance <= k {
			want = append(want, Match{0, distance, uint64(d.Fingerprint), inMemtable, doc})
			if distance == 0 {
				same = append(same, doc)
			}
		}
	}
	slices.SortFunc(want, compareMatches)
	if !slices.Equal(found, want) {
		t.Fatalf("K = %d, k = %d, clock %d: %d matches, want %d", m.k, k, w.clock, len(found), len(want))
	}
	m.eachOf(&a, query, 0, func(doc DocID) bool {
		enumerated = append(enumerated, doc)
		return true
	})
	if !slices.Equal(enumerated, same) {
		t.Fatalf("K = %d: documents %v, want %v", m.k, enumerated, same)
	}
}

// TestBlocksRead has readers look for documents while others come in: who began with a clock finds all
// before it, each once, while they go into blocks and these into buckets with more room.
func TestBlocksRead(t *testing.T) {
	const n = 40_000
	rng := rand.New(rand.NewPCG(14, 8))
	docs := make([]Doc, n)
	for i := range docs { // a few buckets take all
		docs[i].Fingerprint = simhash.Fingerprint(sets.Near(rng, uint64(i%7)*0x123456789abcdef, 20))
	}
	x := newIndex(Config{Design: halves(t)})
	m := x.newMemtable(0)
	defer m.free()
	var clock atomic.Int64
	var group sync.WaitGroup
	for reader := range 3 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(reader), 9))
			positions := make([]uint32, 64)
			for clock.Load() < n {
				seen := int(clock.Load())
				if seen == 0 {
					continue
				}
				row := rng.IntN(seen)
				a := memSearch{view: View{clock: DocID(seen)}, k: 3, positions: positions}
				query := sets.Near(rng, uint64(docs[row].Fingerprint), rng.IntN(4))
				found := 0
				for _, f := range m.search(nil, &a, []uint64{query}, 0) {
					if f.doc == DocID(row) {
						found++
					}
				}
				if found != 1 {
					t.Errorf("document %d of %d is found %d times", row, seen, found)
					return
				}
			}
		})
	}
	group.Go(func() { // beside the writer
		for clock.Load() < n {
			m.index()
		}
	})
	for i := range docs {
		m.add(docs[i:i+1], nil, 1<<40)
		clock.Store(int64(i + 1))
	}
	group.Wait()
}

// TestIDRows holds the rows of IDs against a map, while the table grows and IDs get other rows.
func TestIDRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 9))
	x := newIndex(Config{Design: halves(t), IDs: true})
	m := x.newMemtable(7)
	defer m.free()
	want := map[string]int{}
	for row := range 5000 {
		d := Doc{ID: fmt.Sprint("id ", rng.IntN(3000))}
		if rng.IntN(10) == 0 {
			d.ID = ""
		} else {
			want[d.ID] = row
		}
		m.add([]Doc{d}, nil, 1<<40)
	}
	for id, row := range want {
		if doc, ok := m.holder(id, x.key.hash(id)); !ok || doc != DocID(7+row) || m.id(row) != id {
			t.Fatalf("%q is of document %d, %t, want %d", id, doc, ok, 7+row)
		}
	}
	if _, ok := m.holder("another", x.key.hash("another")); ok {
		t.Error("an ID that no document has")
	}
	if m.rows.n != len(want) {
		t.Errorf("%d IDs, want %d", m.rows.n, len(want))
	}
}
