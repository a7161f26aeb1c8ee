package lists

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/copies/postings"
	"ndd/engine/oracle"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// randomSets returns sets of which many are near each other, and one signature is in most.
func randomSets(random *rand.Rand, n int) [][]uint64 {
	return sets.Signatures(random, n, 60, random.Uint64, 1<<40)
}

// written returns the sections of sets.
func written(t testing.TB, sets [][]uint64, o Options) *store.Memory {
	t.Helper()
	b := postings.NewBuilder(o.Room)
	defer b.Close()
	for _, s := range sets {
		b.Add(s)
	}
	s, err := b.Sets(context.Background(), 1)
	must.Do(t, err)
	to := new(store.Memory)
	must.Do(t, Write(context.Background(), to, "words", s, o))
	return to
}

// opened returns the stored lists of sets.
func opened(t testing.TB, sets [][]uint64) *Lists {
	t.Helper()
	to := written(t, sets, Options{})
	l, err := Open(to.Source(), "words")
	must.Do(t, err)
	must.Do(t, l.Check(context.Background()))
	return l
}

// search returns the documents that are similar to a set, and how many have each of its signatures.
func search(t testing.TB, l *Lists, o postings.Options, set []uint64) (matches []postings.Match, counts []int) {
	t.Helper()
	s := l.Searcher(&o)
	counts = make([]int, len(set))
	must.Do(t, s.Look(set, counts))
	matches, err := s.AppendSimilar(context.Background(), nil, len(set), counts)
	must.Do(t, err)
	return matches, counts
}

// brute compares a set with all others.
func brute(set []uint64, sets [][]uint64, o *postings.Options, counts map[uint64]int) (all []postings.Match) {
	for doc, other := range sets {
		shared, rare := 0, false
		for _, h := range set {
			if _, ok := slices.BinarySearch(other, h); ok {
				shared++
				rare = rare || counts[h] <= o.MaxDocuments
			}
		}
		if rare && o.Similar(len(set), len(other), shared) {
			all = append(all, postings.Match{Doc: uint32(doc), Size: len(other), Shared: shared})
		}
	}
	return all
}

// distinctCounts returns how many different sets have each signature.
func distinctCounts(sets [][]uint64) map[uint64]int {
	counts := map[uint64]int{}
	for i, s := range sets {
		if slices.IndexFunc(sets, func(x []uint64) bool { return slices.Equal(x, s) }) == i {
			for _, h := range s {
				counts[h]++
			}
		}
	}
	return counts
}

// TestSearch holds what is found in stored lists against all pairs, with signatures that find no
// candidates and without, in one index and in two that are searched as one.
func TestSearch(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	sizes := long.Or([]int{1, 3, 90}, []int{1, 3, 90, 700})
	for _, n := range sizes {
		all := randomSets(random, n+60)
		sets, queries := all[:n], all[n:]
		queries = append(queries, sets[:min(n, 40)]...)
		indexes := []*Lists{opened(t, sets[:n/2]), opened(t, sets[n/2:])}
		offsets := []uint32{0, uint32(n / 2)}
		counts := distinctCounts(sets[:n/2])
		for h, c := range distinctCounts(sets[n/2:]) {
			counts[h] += c
		}
		for _, o := range []postings.Options{{Threshold: 0.45, MaxDocuments: 1 << 30},
			{Threshold: 0.45, MaxDocuments: 5}, {Threshold: 1, MaxDocuments: 1},
			{Measure: postings.Containment, Threshold: 0.6, MaxDocuments: 1 << 30}, {Measure: postings.Containment,
				Threshold: 0.1, MaxDocuments: 4}} {
			searchers := []*Searcher{indexes[0].Searcher(&o), indexes[1].Searcher(&o)}
			for _, q := range queries {
				var got []postings.Match
				found := make([]int, len(q))
				for _, s := range searchers {
					must.Do(t, s.Look(q, found))
				}
				for i, s := range searchers {
					from := len(got)
					var err error
					got, err = s.AppendSimilar(context.Background(), got, len(q), found)
					must.Do(t, err)
					for j := range got[from:] {
						got[from+j].Doc += offsets[i]
					}
				}
				if want := brute(q, sets, &o, counts); !slices.Equal(got, want) {
					t.Fatalf("%d documents, %+v: %v, want %v", n, o, got, want)
				}
			}
		}
	}
}

// TestSameBytes: the same sets make the same sections whatever the memory and the threads.
func TestSameBytes(t *testing.T) {
	sets := randomSets(rand.New(rand.NewPCG(1, 2)), 2000)
	want := written(t, sets, Options{})
	for _, o := range []Options{{Threads: 3}, {Room: postings.Room{Bytes: 1 << 16, Dir: t.TempDir()}}} {
		got := written(t, sets, o)
		for _, name := range sections {
			a, err1 := want.Source().Section("words" + name)
			b, err2 := got.Source().Section("words" + name)
			if err1 != nil || err2 != nil || !bytes.Equal(a.Data, b.Data) {
				t.Errorf("%s: %v, %v, %d and %d bytes", name, err1, err2, len(a.Data), len(b.Data))
			}
		}
	}
	single, postings := uint64(0), 0
	for _, c := range distinctCounts(sets) {
		if c == 1 {
			single++
		} else {
			postings += c
		}
	}
	l, err := Open(want.Source(), "words")
	must.Do(t, err)
	if h := l.head; h.Single != single || h.Postings != uint64(postings) || h.Lists >= h.Shared {
		t.Errorf("%+v; %d signatures of one document, %d postings", h, single, postings)
	}
}

var sections = []string{".lists", ".shared", ".shared.index", ".single", ".single.index", ".documents", ".head"}

// TestCommon: a signature of every document, many times over a block, is counted where candidates
// have it.
func TestCommon(t *testing.T) {
	var sets [][]uint64
	for i := range uint64(20_000) {
		sets = append(sets, []uint64{7, 100 + i/2, 1<<32 + i})
	}
	l, o := opened(t, sets), postings.Options{Threshold: 0.5, MaxDocuments: 100}
	for _, q := range []uint64{0, 1, 9_999, 19_999} {
		got, counts := search(t, l, o, []uint64{7, 100 + q/2, 1<<32 + q})
		if !slices.Equal(counts, []int{20_000, 2, 1}) {
			t.Fatal(counts)
		}
		pair := uint32(q &^ 1)
		want := []postings.Match{{Doc: pair, Size: 3, Shared: 2}, {Doc: pair + 1, Size: 3, Shared: 2}}
		want[q&1].Shared = 3
		if !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", q, got, want)
		}
	}
	if n := len(l.lists.Data); n > 20_000/8*2+10_000*6 {
		t.Errorf("%d bytes of lists: ranks that follow each other take a bit each", n)
	}
}

// TestBlockEnds: a document at the last rank of a block is found, and counted, where its rank is
// the first that can be similar and where candidates come in any order.
func TestBlockEnds(t *testing.T) {
	var sets [][]uint64
	for i := range uint64(127) { // which are too small for the queries: ranks 0 to 126
		sets = append(sets, []uint64{7, 1000 + i})
	}
	sets = append(sets, []uint64{7, 8, 9, 10}) // the end of the first block of the lists of 7
	for i := range uint64(200) {
		sets = append(sets, []uint64{8, 9, 10, 2000 + i})
	}
	for i := range uint64(50) {
		sets = append(sets, []uint64{7, 3000 + i, 4000 + i, 5000 + i})
	}
	got, _ := search(t, opened(t, sets), postings.Options{Threshold: 0.9, MaxDocuments: 1 << 30}, []uint64{7, 8, 9, 10})
	if want := []postings.Match{{Doc: 127, Size: 4, Shared: 4}}; !slices.Equal(got, want) {
		t.Errorf("gathered: %v, want %v", got, want)
	}
	// Candidates of ranks 300 and 127, in this order, for which 7 is counted.
	sets = sets[:127]
	for i := range uint64(200) {
		sets = append(sets, []uint64{7, 1<<32 - 10*i, 1<<32 - 10*i + 1, 1<<32 - 10*i + 2, 1<<32 - 10*i + 3})
	}
	query := slices.Concat([]uint64{7}, sets[300][1:], sets[127][1:])
	got, _ = search(t, opened(t, sets), postings.Options{Threshold: 0.5, MaxDocuments: 5}, query)
	if want := []postings.Match{{Doc: 127, Size: 5, Shared: 5}, {Doc: 300, Size: 5, Shared: 5}}; !slices.Equal(got, want) {
		t.Errorf("counted: %v, want %v", got, want)
	}
}

// TestDamagedBlock: a block of a dictionary whose codes are none is said to be damaged, for
// signatures that it does not have, too.
func TestDamagedBlock(t *testing.T) {
	var m store.Memory
	m.Section("x")
	m.Write(make([]byte, 32)) // zeros, of which no code is so long
	m.Section("x.index")
	m.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 5), 0))
	d, err := openDictionary(m.Source(), "x", 2)
	must.Do(t, err)
	for _, hash := range []uint64{5, 6, 100} {
		if _, ok, err := d.find(hash); ok || !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("signature %d: %v, %v", hash, ok, err)
		}
	}
	if _, ok, err := d.find(4); ok || err != nil { // before all blocks
		t.Error(ok, err)
	}
}

// TestHostile: every byte of every section changed, cut or lengthened gives an error or another
// answer, and no panic.
func TestHostile(t *testing.T) {
	sets := randomSets(rand.New(rand.NewPCG(5, 6)), 12)
	for range 140 {
		sets = append(sets, []uint64{1 << 40, rand.Uint64() | 1<<63})
	}
	to := written(t, sets, Options{})
	good := map[string][]byte{}
	for _, name := range sections {
		s, err := to.Source().Section("words" + name)
		must.Do(t, err)
		good["words"+name] = s.Data
	}
	found, refused, step := 0, 0, long.Or(11, 1)
	for _, name := range sections {
		data := good["words"+name]
		for i := 0; i < len(data); i += step {
			for _, change := range []func([]byte) []byte{
				func(b []byte) []byte { b[i] ^= 1 << (i % 8); return b },
				func(b []byte) []byte { b[i] = 0xff; return b },
				func(b []byte) []byte { return b[:i] },
			} {
				bad := maps.Clone(good)
				bad["words"+name] = change(slices.Clone(data))
				var m store.Memory
				for name, data := range bad {
					m.Section(name)
					m.Write(data)
				}
				if try(t, m.Source(), sets) {
					refused++
				}
				found++
			}
		}
	}
	if refused < found/2 {
		t.Errorf("of %d changes %d were noticed without checksums; those of a signature itself cannot be", found, refused)
	}
}

// try opens, checks and searches sections that lie; it reports whether that was noticed.
func try(t *testing.T, from store.Source, sets [][]uint64) (noticed bool) {
	l, err := Open(from, "words")
	if err != nil {
		return corrupt(t, err)
	}
	if err := l.Check(context.Background()); err != nil {
		noticed = corrupt(t, err)
	}
	s := l.Searcher(&postings.Options{Threshold: 0.3, MaxDocuments: 1000})
	for _, q := range sets[:3] {
		counts := make([]int, len(q))
		if err = s.Look(q, counts); err == nil {
			_, err = s.AppendSimilar(context.Background(), nil, len(q), counts)
		}
		if err != nil {
			noticed = corrupt(t, err)
		}
	}
	return noticed
}

func corrupt(t *testing.T, err error) bool {
	if !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("%v is not said to be corrupt", err)
	}
	return true
}

// TestBits: what is written is read again, at the edges of the codes.
func TestBits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for k := range 64 {
		var values []uint64
		for i := range 200 {
			values = append(values, random.Uint64()>>(i%64))
		}
		values = append(values, 0, ^uint64(0), 40<<k-1, 40<<k)
		var w bitWriter
		want := 0
		for _, v := range values {
			w.rice(v, k)
			want += riceBits([]uint64{v}, k)
		}
		if got := 8*len(w.data) + w.n; got != want {
			t.Fatalf("%d bits of remainder: %d bits, want %d", k, got, want)
		}
		w.flush()
		r := bitReader{data: w.data}
		for _, v := range values {
			if got := r.rice(k); got != v || r.bad {
				t.Fatalf("%d bits of remainder: %d, want %d", k, got, v)
			}
		}
	}
}

// TestPartitions: each size belongs to the partition that begins at or below it.
func TestPartitions(t *testing.T) {
	for size := 1; size < 5000; size++ {
		p := partitionOf(size)
		if partitionFrom[p] > size || partitionFrom[p+1] <= size {
			t.Fatalf("%d is in the partition from %d", size, partitionFrom[p])
		}
	}
	if partitionOf(8) != 7 || partitionOf(9) != 7 || partitionOf(10) != 8 {
		t.Error("the steps are not those of the package comment", partitionFrom[:12])
	}
	var d documents // one, of very many signatures
	d.startAt(partitionOf(3 << 20))
	d.docs = append(d.docs, 0)
	d.startAt(len(partitionFrom))
	if from, to := d.ranks(2<<20, 4<<20); from != 0 || to != 1 {
		t.Errorf("ranks %d to %d of a document of 3 Mi signatures", from, to)
	}
}
