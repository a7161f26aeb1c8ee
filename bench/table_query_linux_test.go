package main

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ndd/asm"
	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/huffman"
	"ndd/permute"
)

// The environment of BenchmarkTable.
//
//	NDD_BASE, NDD_QUERIES   files of little-endian uint64; without them, 1 M uniform fingerprints of which 1 % are near another, and
//	                        queries of which half have an answer
//	NDD_DESIGN              2 (halves, radius 1; the default), 11 (cover-11-6-3) or 10 (paper), by number of tables
//	NDD_LAYOUT              planar (default) or huffman
//	NDD_BLOCK               bytes of a huffman block (default 1024)
//	NDD_TABLES              a folder that keeps the tables for the next run, by layout, number of fingerprints and mask: of one base only
//	NDD_LOCK                a file that is locked while the clock runs, for a machine on which others measure too
//	NDD_YARDSTICK           path of the C program planar, run before each design that it knows
const (
	tableQueries = 100000
	tablePiece   = 1000 // queries timed at once: what others do to the machine in between is left out
)

// BenchmarkTable queries designs of tables, on one thread, in batches of several sizes,
// and compares the answers with a linear scan (the first queries) and with the count and checksum
// of the C program (all). A query costs, in every table: the permutation of a batch, its probes,
// and the test which table reports a hit. misses/query is the expected number of cache lines that
// its probes and answers take from memory; miss-share is the cost of
// these at this machine's rate of independent misses, measured here, as a share of the time.
func BenchmarkTable(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	base, queries := tableInput(b)
	design := tableDesign(b)
	layout := table.Layout(os.Getenv("NDD_LAYOUT"))
	if layout == "" {
		layout = table.LayoutPlanar
	}
	options := table.Options{Layout: layout}
	if layout == table.LayoutHuffman {
		options.BlockBytes = huffman.BlockBytesDefault
		if v := os.Getenv("NDD_BLOCK"); v != "" {
			var err error
			if options.BlockBytes, err = strconv.Atoi(v); err != nil {
				b.Fatal(err)
			}
		}
	}
	s := &measuredSet{tableSet: &tableSet{design: design, layout: layout}, blockBytes: options.BlockBytes}
	began := time.Now()
	var built time.Duration
	parts := make(map[string]float64)
	var names []string
	for i, t := range design.Tables {
		name := fmt.Sprintf("%s-%d-%d-%x", layout, options.BlockBytes, len(base), t.Mask)
		sections := loadSections(b, name)
		if sections == nil {
			at := time.Now()
			sections = packTable(b, base, t.Mask, options)
			sections.save(name)
			built += time.Since(at)
		}
		tab, err := table.Open(hugeSource{sections}, "", layout)
		if err != nil {
			b.Fatal(err)
		}
		s.sections = append(s.sections, sections)
		s.add(tab)
		for _, p := range tab.Parts() {
			if i == 0 {
				names = append(names, p.Name)
			}
			parts[p.Name] += float64(p.Bytes) / float64(tab.Len())
		}
	}
	b.Logf("%d tables in %v, of which building %v", len(design.Tables), time.Since(began).Round(time.Millisecond), built.Round(time.Millisecond))
	total := 0.0
	for _, name := range names {
		b.Logf("%-8s %7.3f bytes a fingerprint", name, parts[name])
		total += parts[name]
	}
	b.Logf("%-8s %7.3f bytes a fingerprint; bound %.3f", "sum", total,
		float64(len(design.Tables))*(64-math.Log2(float64(s.tables[0].Len()))+1.44)/8)

	s.verify(b, base, queries[:min(20, len(queries), 2e9/len(base)+1)])
	want := runYardstick(b, len(design.Tables), len(queries))
	defer lockMachine(b)()
	miss := s.missTime(b)
	b.Logf("an independent miss takes %.1f ns", miss)
	answers, finders := s.finders(b, queries[:min(2000, len(queries))])
	lines := s.lines(answers, finders)
	for _, batch := range []int{1, 8, 32, 256} {
		b.Run(fmt.Sprintf("layout=%s/tables=%d/n=%d/batch=%d", layout, len(design.Tables), len(base), batch), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var answer string
			var took []float64 // ns a query, by piece
			for b.Loop() {
				hits, sum := 0, uint64(0)
				for from := 0; from < len(queries); from += tablePiece {
					piece := queries[from:min(from+tablePiece, len(queries))]
					at := threadTime(b)
					n, add, err := s.count(b.Context(), piece, from, batch)
					if err != nil {
						b.Fatal(err)
					}
					took = append(took, float64((threadTime(b)-at).Nanoseconds())/float64(len(piece)))
					hits, sum = hits+n, sum+add
				}
				answer = fmt.Sprintf("results=%d checksum=%016x", hits, sum)
				if want != "" && answer != want {
					b.Fatalf("%s, the yardstick has %s", answer, want)
				}
			}
			b.Logf("%d queries: %s", len(queries), answer)
			slices.Sort(took)
			perQuery := took[len(took)/2]
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(queries)), "ns/query")
			b.ReportMetric(perQuery, "median-cpu-ns/query")
			b.ReportMetric(took[len(took)/10], "p10-cpu-ns/query")
			b.ReportMetric(total, "bytes/fp")
			b.ReportMetric(lines, "misses/query")
			b.ReportMetric(lines*miss/perQuery, "miss-share")
		})
	}
}

// packTable sorts the fingerprints under a mask, on two threads, and packs them.
func packTable(b *testing.B, base []uint64, mask uint64, o table.Options) *hugeSections {
	keys := make([]uint64, len(base))
	radix.Keys(keys, base, mask, 2)
	sections := newHugeSections(b)
	if err := table.Write(sections, "", slices.Compact(keys), o); err != nil {
		b.Fatal(err)
	}
	return sections
}

// lockMachine waits for the lock of NDD_LOCK, and returns what gives it back.
func lockMachine(b *testing.B) func() {
	path := os.Getenv("NDD_LOCK")
	if path == "" {
		return func() {}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		b.Fatal(err)
	}
	return func() { f.Close() }
}

// threadTime returns the processor time of this thread, for machines that others use too.
func threadTime(b *testing.B) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// measuredSet is a [tableSet] with what its figures need.
type measuredSet struct {
	*tableSet
	blockBytes int // of the huffman layout
	sections   []*hugeSections
}

// lines returns how many cache lines a query with so many answers, which so many tables find, is expected to
// take from memory. Planar: of buckets, which flips of the low bits share; of low, for every bucket that is not
// empty; of rest, for each key that passes by chance; of low and rest for what is
// there. Of three tables of radius 0 or more, one reads an answer. Huffman: half a block, the
// beginnings of codes and raw bits, and the end of the search for it.
func (s *measuredSet) lines(answers, finders float64) float64 {
	sum := 0.0
	for i, t := range s.tables {
		flips := slices.Collect(s.search[i].Flips.All())
		if s.layout == table.LayoutHuffman {
			sum += float64(len(flips)) * (float64(s.blockBytes)/64/4 + 1 + 3) // half a half, its head, the index
			continue
		}
		leading := s.search[i].Leading
		bucketBits, perLine := table.PlanarWidths(t.Len())
		run := float64(t.Len()) / math.Ldexp(1, int(bucketBits))
		seen := make(map[uint64]bool)
		for _, flip := range flips {
			seen[flip>>(64-bucketBits)/perLine] = true
			sum += math.Ldexp(1, max(0, int(bucketBits)-leading)) * (1 - math.Exp(-run) + run*(2.0/64+passes(distance-bits.OnesCount64(flip))))
		}
		read := finders
		if len(s.tables) >= 3 && len(flips) == 1 {
			read = answers
		}
		sum += float64(len(seen)) + read*(math.Exp(-run)+1)/float64(len(s.tables))
	}
	return sum
}

// finders returns how many answers a query has, and in how many tables they are found.
func (s *measuredSet) finders(b *testing.B, queries []uint64) (answers, finders float64) {
	all, found := 0, 0
	err := s.each(b.Context(), queries, 32, func(_ int, diff uint64) {
		all++
		for _, t := range s.design.Tables {
			if t.Finds(diff) {
				found++
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	return float64(all) / float64(len(queries)), float64(found) / float64(len(queries))
}

// passes returns the probability that two words of 16 bits differ in at most limit.
func passes(limit int) float64 {
	sum := 0.0
	for i := 0; i <= limit; i++ {
		sum += float64(permute.Binomial(16, i))
	}
	return sum / 65536
}

// verify compares the answers of a few queries with a linear scan.
func (s *measuredSet) verify(b *testing.B, base, queries []uint64) {
	var count int
	var sum uint64
	found := make([]uint32, 1<<16)
	for i, q := range queries {
		seen := make(map[uint64]bool)
		for rest := base; len(rest) > 0; {
			n, done := asm.Within64(found, rest, q, distance)
			for _, at := range found[:n] {
				if f := rest[at]; !seen[f] {
					seen[f] = true
					count++
					sum += oracle.Term(i, f)
				}
			}
			rest = rest[done:]
		}
	}
	hits, got, err := s.count(b.Context(), queries, 0, 7)
	if err != nil {
		b.Fatal(err)
	}
	if hits != count || got != sum {
		b.Fatalf("%d answers to %d queries, a scan finds %d; checksums %#x, %#x", hits, len(queries), count, got, sum)
	}
}

// missTime returns the time of an independent cache miss, on random words of the tables themselves, so
// that pages are as far apart as for their probes.
func (s *measuredSet) missTime(b *testing.B) float64 {
	var words [][]uint64
	total := uint64(0)
	for _, sections := range s.sections {
		for _, data := range sections.data {
			if n := len(data) / 8; n > 0 {
				words = append(words, unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(data))), n))
				total += uint64(n)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	at := make([]*uint64, 1<<16) // the clock takes as long as 20 of them
	sum := uint64(0)
	best := time.Duration(1 << 62)
	const rounds = 16
	for range 3 {
		var took time.Duration
		for range rounds {
			for i := range at {
				place := rng.Uint64N(total)
				for _, w := range words {
					if place < uint64(len(w)) {
						at[i] = &w[place]
						break
					}
					place -= uint64(len(w))
				}
			}
			began := threadTime(b)
			for _, p := range at {
				sum += *p
			}
			took += threadTime(b) - began
		}
		best = min(best, took)
	}
	runtime.KeepAlive(sum)
	return float64(best.Nanoseconds()) / rounds / float64(len(at))
}

// runYardstick runs the C program on the same files and returns its count and
// checksum, "" when there is none.
func runYardstick(b *testing.B, tables, queries int) string {
	path := os.Getenv("NDD_YARDSTICK")
	if path == "" || os.Getenv("NDD_BASE") == "" || tables == 10 {
		return ""
	}
	out, err := exec.Command(path, os.Getenv("NDD_BASE"), os.Getenv("NDD_QUERIES"), strconv.Itoa(queries), strconv.Itoa(tables)).Output()
	if err != nil {
		b.Fatalf("%s: %v", path, err)
	}
	b.Logf("yardstick:\n%s", out)
	_, answer, ok := strings.Cut(string(out), "results=")
	if !ok {
		b.Fatalf("%s prints no results", path)
	}
	answer, _, _ = strings.Cut(answer, "\n")
	return "results=" + answer
}

func tableDesign(b *testing.B) permute.Design {
	name := os.Getenv("NDD_DESIGN")
	var d permute.Design
	var err error
	switch name {
	case "", "2":
		d, err = permute.Named("halves", distance, 1)
	case "11":
		d, err = permute.Named("cover-11-6-3", distance, 1)
	case "10":
		d, err = permute.Paper(10, 1)
	default:
		err = fmt.Errorf("NDD_DESIGN=%s: there are 2, 10 and 11", name)
	}
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func tableInput(b *testing.B) (base, queries []uint64) {
	if path := os.Getenv("NDD_BASE"); path != "" {
		base, queries = mapWords(b, path), mapWords(b, os.Getenv("NDD_QUERIES"))
		return base, queries[:min(tableQueries, len(queries))]
	}
	rng := rand.New(rand.NewPCG(42, 0))
	base = make([]uint64, 1<<20)
	for i := range base {
		if base[i] = rng.Uint64(); i > 0 && i%100 == 0 {
			base[i] = sets.Near(rng, base[rng.IntN(i)], 1+rng.IntN(3))
		}
	}
	queries = make([]uint64, tableQueries)
	for i := range queries {
		switch q := base[rng.IntN(len(base))]; i % 4 {
		case 0, 1:
			queries[i] = sets.Near(rng, q, rng.IntN(4))
		case 2:
			queries[i] = sets.Near(rng, q, 4)
		default:
			queries[i] = rng.Uint64()
		}
	}
	return base, queries
}

// mapWords maps a file, whose pages the system may drop while tables are searched.
func mapWords(b *testing.B, path string) []uint64 {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { unix.Munmap(data) })
	return store.Uint64s(data)
}
