package memtable

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

// skewed returns fingerprints. Many of them are near others, or share blocks with many others.
func skewed(rng *rand.Rand, n, k int) []rows.Doc {
	docs := make([]rows.Doc, n)
	for i := range docs {
		f := rng.Uint64()
		switch pos := rng.IntN(i + 1); rng.IntN(5) {
		case 0:
			f = sets.Flip(rng, uint64(docs[pos].Fingerprint), rng.IntN(k+2))
		case 1:
			f = uint64(docs[pos].Fingerprint)
		case 2:
			f &= 0xffffffff
		case 3:
			f = sets.Flip(rng, 0, rng.IntN(k+2))
		}
		docs[i].Fingerprint = simhash.Fingerprint(f)
	}
	return docs
}

// TestMemtableSearch compares searches of memtables with all documents, for every K and k. Blocks are made at once,
// or in steps, with rows outside blocks and rows that moved since the search began.
func TestMemtableSearch(t *testing.T) {
	maximum := long.Or(2500, 6000)
	for K := range permute.MaxK + 1 {
		rng := rand.New(rand.NewPCG(uint64(K), 7))
		docs := skewed(rng, maximum, K)
		o := Options{First: 1000, MaxDocs: maximum, MaxBytes: 1 << 40, K: K}
		one, late, all := New(o), New(o), New(o)
		for _, m := range []*Table{all, late} {
			if n := m.Add(docs, nil); n != maximum {
				t.Fatalf("%d documents are in", n)
			}
		}
		for n := 0; n < maximum-unindexedDocs; one.index() {
			n += one.Add(docs[n:min(n+1+rng.IntN(300), maximum-unindexedDocs)], nil)
		}
		one.Add(docs[one.Len():], nil)
		late.blocks.Load().rows.Add(-100)
		if n := one.unindexed(); n != unindexedDocs {
			t.Fatalf("%d of the rows are in no block, want %d", n, unindexedDocs)
		}
		for _, m := range []*Table{one, all, late} {
			if m.blocks.Load() == nil {
				t.Fatalf("K = %d: without blocks", K)
			}
			for k := range K + 1 {
				for range 8 {
					query := uint64(docs[rng.IntN(maximum)].Fingerprint)
					if rng.IntN(4) > 0 {
						query = sets.Flip(rng, query, rng.IntN(k+2))
					}
					clock := rows.DocID(1000 + rng.IntN(maximum+100))
					checkMemtable(t, m, docs, clock, query, k)
				}
			}
			m.Free()
		}
	}
}

// checkMemtable compares one search, and an enumeration, with the documents.
func checkMemtable(t *testing.T, m *Table, docs []rows.Doc, clock rows.DocID, query uint64, k int) {
	t.Helper()
	a := Search{Moment: rows.Moment{Clock: clock}, K: k, Positions: make([]uint32, 3)} // few, so that they fill up
	found := m.Search(nil, &a, []uint64{query}, 0)
	slices.SortFunc(found, rows.CompareMatches)
	var want []rows.Match
	var same, enumerated []rows.DocID
	for i, d := range docs {
		distance := simhash.Distance(d.Fingerprint, simhash.Fingerprint(query))
		if doc := m.First + rows.DocID(i); doc < clock && distance <= k {
			want = append(want, rows.NewDocMatch(0, query, uint64(d.Fingerprint), doc, rows.Unverified))
			if distance == 0 {
				same = append(same, doc)
			}
		}
	}
	slices.SortFunc(want, rows.CompareMatches)
	if !slices.Equal(found, want) {
		t.Fatalf("K = %d, k = %d, clock %d: %d matches, want %d", m.K, k, clock, len(found), len(want))
	}
	a.K = 0
	m.Each(&a, 0, query, func(doc rows.DocID, _ float32) bool {
		enumerated = append(enumerated, doc)
		return true
	})
	if !slices.Equal(enumerated, same) {
		t.Fatalf("K = %d: documents %v, want %v", m.K, enumerated, same)
	}
}

// TestBlocksRead searches while documents are inserted and moved into blocks. A reader finds all documents before
// its clock, each once.
func TestBlocksRead(t *testing.T) {
	const n = 40_000
	rng := rand.New(rand.NewPCG(14, 8))
	docs := make([]rows.Doc, n)
	for i := range docs { // a few buckets take all
		docs[i].Fingerprint = simhash.Fingerprint(sets.Flip(rng, uint64(i%7)*0x123456789abcdef, 20))
	}
	m := New(Options{MaxDocs: n, MaxBytes: 1 << 40, K: 3})
	defer m.Free()
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
				a := Search{Moment: rows.Moment{Clock: rows.DocID(seen)}, K: 3, Positions: positions}
				query := sets.Flip(rng, uint64(docs[row].Fingerprint), rng.IntN(4))
				found := 0
				for _, f := range m.Search(nil, &a, []uint64{query}, 0) {
					if f.Doc == rows.DocID(row) {
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
	group.Go(func() { // concurrently with the writer
		for clock.Load() < n {
			m.index()
		}
	})
	for i := range docs {
		m.Add(docs[i:i+1], nil)
		clock.Store(int64(i + 1))
	}
	group.Wait()
}

// TestIDRows compares the rows of IDs with a map, while the table grows and IDs get new rows.
func TestIDRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 9))
	key := &rows.IDKey{1, 2, 3}
	m := New(Options{First: 7, MaxDocs: 5000, MaxBytes: 1 << 40, K: 3, Key: key})
	defer m.Free()
	want := map[string]int{}
	for row := range 5000 {
		d := rows.Doc{ID: fmt.Sprint("id ", rng.IntN(3000))}
		if rng.IntN(10) == 0 {
			d.ID = ""
		} else {
			want[d.ID] = row
		}
		m.Add([]rows.Doc{d}, nil)
	}
	for id, row := range want {
		if doc, ok := m.Lookup(id, key.Hash(id)); !ok || doc != rows.DocID(7+row) || m.ID(row) != id {
			t.Fatalf("%q is of document %d, %t, want %d", id, doc, ok, 7+row)
		}
	}
	if _, ok := m.Lookup("another", key.Hash("another")); ok {
		t.Error("an ID that no document has")
	}
	if m.rows.n != len(want) {
		t.Errorf("%d IDs, want %d", m.rows.n, len(want))
	}
}

// hotMemtable returns a memtable whose documents all have fingerprint 0.
func hotMemtable(t *testing.T) *Table {
	m := New(Options{MaxDocs: 8 * scanDocs, MaxBytes: 1 << 40, K: 3})
	t.Cleanup(m.Free)
	m.Add(make([]rows.Doc, 3*scanDocs), nil)
	return m
}

// TestEqualQueriesAreSearchedOnce searches for a few queries that repeat: each is searched once.
func TestEqualQueriesAreSearchedOnce(t *testing.T) {
	m := hotMemtable(t)
	queries := sets.Generate(256, func(i int) uint64 { return uint64(i % 2) })
	a := Search{Moment: rows.Moment{Clock: m.End()}, K: 3, First: true, Positions: make([]uint32, 1<<16)}
	found := m.Search(nil, &a, queries, 0)
	if a.searched != 2 || len(found) != len(queries) {
		t.Fatalf("%d queries were searched for, %d matches; want 2, and one for each of %d", a.searched, len(found),
			len(queries))
	}
	for q, x := range found {
		if x.Query != q || int(x.Distance) != q%2 || x.Fingerprint != 0 || x.Doc != m.First {
			t.Fatalf("match %d: %+v", q, x)
		}
	}
}

// TestUnindexedAreBounded blocks one caller while it moves rows into blocks. Others insert only as many rows as
// searches may scan, and then wait.
func TestUnindexedAreBounded(t *testing.T) {
	m := hotMemtable(t)
	m.indexing.Lock()
	unlock := sync.OnceFunc(m.indexing.Unlock)
	defer unlock()
	var group sync.WaitGroup
	group.Go(func() {
		for range 2 * unindexedMax {
			m.Add(make([]rows.Doc, 1), nil)
			if m.IndexDue() {
				m.TryIndex()
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
	m.index()
	if n := m.unindexed(); n != 0 {
		t.Errorf("%d documents are in no block in the end", n)
	}
}

// TestHotBuckets counts the comparisons of queries in memtables whose fingerprints share 32 bits that a client has
// chosen: a few percent of the documents on average.
func TestHotBuckets(t *testing.T) {
	const n, queries = 20_000, 64
	compared, patterns := 0, []uint64{0xffffffff << 32, 0xffffffff, 0xffff0000ffff0000, 0xffffffff0000}
	for _, shared := range patterns {
		rng := rand.New(rand.NewPCG(shared, 3))
		docs := make([]rows.Doc, n)
		for i := range docs {
			docs[i].Fingerprint = simhash.Fingerprint(rng.Uint64() &^ shared)
		}
		m := New(Options{MaxDocs: n, MaxBytes: 1 << 40, K: 3})
		m.Add(docs, nil)
		m.index()
		b := m.blocks.Load()
		for _, d := range docs[:queries] {
			shuffled := b.shuffled(uint64(d.Fingerprint))
			for i, heads := range b.heads {
				compared += head(heads[b.value(i, shuffled)]).n()
			}
		}
		m.Free()
	}
	if a := compared / (queries * len(patterns)); a > n/2 {
		t.Errorf("a query compares %d of %d entries", a, 4*n)
	}
}
