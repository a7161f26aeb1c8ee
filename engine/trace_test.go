package engine

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"example.org/ndd/asm"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/numa"
	"example.org/ndd/permute"
)

var (
	traceDocs    = flag.Int("trace.n", 20_000, "fingerprints of TestTrace; 200,000 in .ci/run, 1,000,000 in the long form")
	traceQueries = flag.Int("trace.q", 2_000, "queries of TestTrace; 20,000 in .ci/run")
	traceSets    = flag.Int("trace.sets", 16, "settings of TestTrace")
)

// traceOptions are the options of a trace, which must not change its answers.
type traceOptions struct {
	design   string
	layout   table.Layout
	kernel   string
	procs    int // GOMAXPROCS
	threads  int // threads of a batch
	batch    int // queries at a time; 1 asks them one by one, 0 all at once
	load     bool
	verify   live.Verify
	spread   string  // kind of distribution; "not" for none
	inserted float64 // share of the fingerprints that are added by Insert
	tight    bool    // built with little memory, in many ranges or through a temporary file
}

func (s traceOptions) String() string {
	return fmt.Sprintf("%s %s %s procs=%d threads=%d batch=%d load=%v verify=%v spread=%s inserted=%g tight=%v",
		s.design, s.layout, s.kernel, s.procs, s.threads, s.batch, s.load, s.verify, s.spread, s.inserted, s.tight)
}

// settings returns n options. In these, the values of every dimension are about equally frequent, in a random order.
func settings(rng *rand.Rand, n int) []traceOptions {
	list := make([]traceOptions, n)
	vary(rng, list, func(s *traceOptions, v string) { s.design = v }, "halves", "thirds", "mixed-3-1000", "mixed-3-10000",
		"paper-4", "paper-10", "paper-16", "cover-6-4-3", "cover-11-6-3", "cover-8-4-3", "choose-5-2")
	vary(rng, list, func(s *traceOptions, v table.Layout) { s.layout = v }, table.LayoutPlanar, table.LayoutHuffman)
	vary(rng, list, func(s *traceOptions, v string) { s.kernel = v }, asm.Backends()...)
	vary(rng, list, func(s *traceOptions, v int) { s.procs = v }, 1, 2, 4)
	vary(rng, list, func(s *traceOptions, v int) { s.threads = v }, 1, 2, 3, 8)
	vary(rng, list, func(s *traceOptions, v int) { s.batch = v }, 0, 0, 1, 255, 256, 257, 5000)
	vary(rng, list, func(s *traceOptions, v bool) { s.load = v }, false, true)
	vary(rng, list, func(s *traceOptions, v live.Verify) { s.verify = v }, live.VerifyFull, live.VerifyFast)
	vary(rng, list, func(s *traceOptions, v string) { s.spread = v }, "not", "workers", "five workers", "one worker", "direct")
	vary(rng, list, func(s *traceOptions, v float64) { s.inserted = v }, 0, 0, 0.01, 0.3)
	vary(rng, list, func(s *traceOptions, v bool) { s.tight = v }, false, false, true)
	return list
}

func vary[T any](rng *rand.Rand, list []traceOptions, set func(*traceOptions, T), values ...T) {
	for i, pos := range rng.Perm(len(list)) {
		set(&list[pos], values[i%len(values)])
	}
}

// trace returns fingerprints and queries. A third is random, a third clustered like pages of sites, and a third skewed:
// a frequent fingerprint, many equal leading bits, and a sequence. Queries are near some of them or random.
func trace(rng *rand.Rand, docs, queries int) (base, asked []uint64) {
	centres := make([]uint64, 1+docs/60)
	for i := range centres {
		centres[i] = rng.Uint64()
	}
	for i := range docs {
		f := rng.Uint64()
		switch i % 12 {
		case 0, 1, 2, 3:
			f = sets.Flip(rng, centres[rng.IntN(len(centres))], rng.IntN(8))
		case 4:
			f = 0x0123456789abcdef * uint64(1&^(i>>8)) // half of the words are 0
		case 5, 6:
			f = 0xa5a5a5a5a5<<24 | f>>40
		case 7:
			f = uint64(i) << 40
		}
		base = append(base, f)
	}
	rng.Shuffle(len(base), func(i, j int) { base[i], base[j] = base[j], base[i] })
	for i := range queries {
		f := base[rng.IntN(len(base))]
		if (f == 0 || f == 0x0123456789abcdef) && i%50 != 0 {
			f = rng.Uint64() // a few fingerprints with thousands of documents each
		}
		asked = append(asked, sets.Flip(rng, f, rng.IntN(6)))
	}
	return base, asked
}

// appendLine appends a hit as text.
func appendLine(text []byte, query int, fingerprint uint64, distance, row int) []byte {
	text = append(strconv.AppendInt(text, int64(query), 10), '\t')
	text = append(strconv.AppendUint(text, fingerprint, 16), '\t')
	text = append(strconv.AppendInt(text, int64(distance), 10), '\t')
	return append(strconv.AppendInt(text, int64(row), 10), '\n')
}

// TestTrace checks that answers are the same with all traceOptions. A trace of fingerprints and queries gives exactly
// the results of brute force in each of n settings.
func TestTrace(t *testing.T) {
	docs, asks, n := *traceDocs, *traceQueries, *traceSets
	rng := rand.New(rand.NewPCG(8, 8))
	base, queries := trace(rng, docs, asks)
	var want []byte
	for _, h := range oracle.Search(base, queries, 3) {
		want = appendLine(want, h.Query, h.Fingerprint, h.Distance, h.Row)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer asm.Select(asm.Backend()) // restore it
	for _, s := range settings(rng, n) {
		t.Run(s.String(), func(t *testing.T) {
			start := time.Now()
			got := s.answers(t, base, queries)
			if !bytes.Equal(got, want) {
				pos := 0
				for pos < min(len(got), len(want)) && got[pos] == want[pos] {
					pos++
				}
				end := func(b []byte) []byte { return b[max(0, min(pos-60, len(b))):min(pos+60, len(b))] }
				t.Errorf("differs from brute force at byte %d of %d:\n%s\nwant\n%s", pos, len(want), end(got), end(want))
			}
			t.Logf("%v, %d bytes", time.Since(start).Round(time.Millisecond), len(got))
		})
	}
}

// answers returns the answers of an index with these traceOptions.
func (s traceOptions) answers(t *testing.T, base, queries []uint64) (text []byte) {
	must.Do(t, asm.Select(s.kernel))
	runtime.GOMAXPROCS(s.procs)
	d, err := permute.ByName(s.design, 3, 4)
	must.Do(t, err)
	o := segment.Options{Design: d, Table: table.Options{Layout: s.layout}, Threads: s.threads}
	built := len(base) - int(s.inserted*float64(len(base)))
	if s.tight { // the minimum that is not refused
		o.Budget, o.TempDir = memory.NewBudget(memory.Set(1)), "."
		_, err := segment.NewPlan(uint64(built), o)
		e, ok := errors.AsType[*memory.TooLargeError](err)
		if !ok {
			t.Fatal(err)
		}
		o.Budget, o.TempDir = memory.NewBudget(memory.Set(e.Need)), ""
	}
	dir := filepath.Join(t.TempDir(), "index")
	must.Do(t, live.Build(t.Context(), dir, []*ndf.File{openFile(t, writeRaw(t, base[:built]))}, live.BuildOptions{Options: o}))
	hosts := []fs.FS{os.DirFS("/"), twoNodes(1 << 20)}
	h := numa.New(numa.Options{Root: hosts[s.threads%2]})
	x := openAt(t, dir, live.OpenOptions{Verify: s.verify, Threads: s.threads, Load: s.load,
		Spread: spreads(h)[s.spread]})
	for tail := range slices.Chunk(base[built:], 1000) {
		_, err = x.Insert(t.Context(), documents(tail)...)
		must.Do(t, err)
	}
	add := func(query int, hits []Hit) error {
		for _, h := range hits {
			for _, doc := range h.Docs {
				text = appendLine(text, query, uint64(h.Fingerprint), h.Distance, int(doc))
			}
		}
		return nil
	}
	if s.batch == 1 {
		for i, q := range queries {
			hits, err := x.Query(t.Context(), fingerprint(q), QueryOptions{K: 3, Docs: AllDocs})
			must.Do(t, err)
			add(i, hits)
		}
		return text
	}
	size := s.batch
	if size == 0 {
		size = len(queries)
	}
	for first := 0; first < len(queries); first += size {
		part := queries[first:min(first+size, len(queries))]
		err := x.Batch(t.Context(), simhash.Fingerprints(part), BatchOptions{K: 3, Docs: AllDocs, Threads: s.threads},
			func(query int, hits []Hit) error { return add(first+query, hits) })
		must.Do(t, err)
	}
	return text
}
