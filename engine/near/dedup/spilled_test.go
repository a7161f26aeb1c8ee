package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/near/source"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/spill"
)

// documentsOf returns JSON lines of documents: of templates, the copies of one, or of different words.
func documentsOf(kind string, n int) string {
	rng := rand.New(rand.NewPCG(8, uint64(len(kind))))
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, " w%d", rng.IntN(1<<20))
		}
		return b.String()
	}
	templates := make([]string, map[string]int{"templates": n / 20, "one template": 1}[kind])
	for i := range templates {
		templates[i] = words(30)
	}
	var b strings.Builder
	for i := range n {
		text := rivers
		switch {
		case kind == "different":
			text = words(30)
		case kind != "equal":
			text = templates[i%len(templates)] + words(rng.IntN(4))
		}
		fmt.Fprintf(&b, `{"id":"d%d","text":%q,"set":"s%d","rank":%d,"url":"http://a/%d"}`+"\n", i, text, i%3, rng.IntN(9),
			rng.IntN(n))
	}
	return b.String()
}

func needsMapping(t *testing.T) {
	if !memory.CanMapFile {
		t.Skip("needs a system that maps temporary files, as Linux, where every run has it")
	}
}

// TestSpilled checks that results and copies are the same to the byte if all data that grows with the documents is in
// temporary files. These are removed at the end.
func TestSpilled(t *testing.T) {
	needsMapping(t)
	const n = 600 // smaller buffers are in memory
	t.Chdir(t.TempDir())
	temp := t.TempDir()
	keep, err := keep.Parse("rank,longest")
	must.Do(t, err)
	all := ReadOptions{Keep: keep, Source: source.Options{Field: "set", Protect: []string{"s2"}}}
	similar, spilled := Rule{{Jaccard: 0.7}}, uint64(0)
	kinds := []string{"templates", "one template", "equal", "different"}
	for i, kind := range long.Raced(kinds, kinds[:1]) {
		write(t, map[string]string{"in.jsonl": documentsOf(kind, n)})
		for j, c := range []struct {
			name string
			read ReadOptions
			find Options
		}{
			{"fast", ReadOptions{}, Options{K: 3}},
			{"ordered", all, Options{K: 8}},
			{"sketches", ReadOptions{Sketches: true}, Options{K: 8, Rule: similar}},
			{"texts, ordered", all, Options{K: 6, Rule: similar, Texts: &Texts{}}},
			{"exact", ReadOptions{}, Options{Exact: true}},
			{"URLs", ReadOptions{SameURL: URLFields, Keep: keep}, Options{K: 6, Rule: similar, Texts: &Texts{}}},
		} {
			if !long.Form() && i > 0 && (i+j)%3 > 0 {
				continue // each kind with some, each of these with one kind at least
			}
			var want string
			for _, few := range []bool{false, true} {
				c.read.Find, c.read.TempDir = c.find, temp
				read, threads := c.read, 1
				if few {
					read.columnBytes, threads = 1, 3
				}
				read.Threads = threads
				corpus, _, err := ReadDocuments(t.Context(), []string{"in.jsonl"}, ingest.Config{Exact: c.find.Exact}, read)
				if err != nil {
					t.Fatal(kind, c.name, few, err)
				}
				if few {
					corpus.o.Budget = memory.NewBudget(memory.Set(1))
					corpus.room.results = corpus.room.arena()
				}
				r := found(t, corpus, c.find)
				if spilled += r.Spilled; corpus.fingerprints.IsSpilled() != few || !few && r.Spilled > 0 {
					t.Fatalf("%s, %s: %d bytes spilled, limited %v", kind, c.name, r.Spilled, few)
				}
				copies, report := copied(t, r)
				got := fmt.Sprintln(r.clusters.Distinct, r.Rejected, r.SameURL, report, copies)
				got += said(r)
				if want = cmp.Or(want, got); got != want {
					t.Errorf("%s, %s: %.300s\nwant %.300s", kind, c.name, got, want)
				}
				corpus.Close()
			}
		}
	}
	if remaining, err := os.ReadDir(temp); err != nil || len(remaining) > 0 || spilled == 0 {
		t.Error(remaining, err, spilled)
	}
}

// TestSpilledPrints checks that results of appended documents are the same, too, if their budget is too small.
func TestSpilledPrints(t *testing.T) {
	needsMapping(t)
	const n = 1<<18 + 1000
	rng := rand.New(rand.NewPCG(4, 5))
	fingerprints := sets.Uniform(n, 8)
	for i := 0; i < n/2; i++ {
		fingerprints[i] = sets.Flip(rng, fingerprints[n/2+rng.IntN(n/2)], i%4)
	}
	keep := keep.Order{{Policy: keep.Longest}}
	var want string
	for _, limit := range []uint64{1 << 40, 11 << 20} {
		o := ReadOptions{Keep: keep, Threads: 1, Budget: memory.NewBudget(memory.Set(limit)), TempDir: t.TempDir()}
		c := NewCorpus(nil, o)
		for i, f := range fingerprints {
			must.Do(t, c.Append(Document{ID: "d", Fingerprint: simhashOf(f), TextBytes: i % 100}))
		}
		r := found(t, c, Options{K: 3})
		if (r.Spilled > 0) != (limit == 11<<20) {
			t.Fatal(limit, r.Spilled)
		}
		got := fmt.Sprintln(r.clusters.Distinct, r.NumDropped(), keptRows(r))
		if want = cmp.Or(want, got); got != want {
			t.Errorf("limit %d: %.300s\nwant %.300s", limit, got, want)
		}
		c.Close()
	}
}

// TestSpillFull checks that a full disk during a spill is an error that names the folder, and leaves no files there.
func TestSpillFull(t *testing.T) {
	needsMapping(t)
	const n = 2000 // smaller buffers are in memory
	for full := 1; ; full++ {
		temp, writes := t.TempDir(), 0
		o := ReadOptions{TempDir: temp, Threads: 1, columnBytes: 1}
		o.Disk = disk.WithFailures(func(call disk.Call, _ string) error {
			if call == disk.CallCreate || call == disk.CallWrite {
				if writes++; writes == full {
					return syscall.ENOSPC
				}
			}
			return nil
		})
		c := NewCorpus(nil, o)
		var err error
		for i := 0; i < n && err == nil; i++ {
			err = c.Append(Document{Fingerprint: simhashOf(uint64(i/2) * 0x9e3779b97f4a7c15)})
		}
		if err == nil && writes >= full {
			t.Errorf("call %d failed, and later documents were appended", full)
		}
		if err == nil {
			c.o.Budget = memory.NewBudget(memory.Set(c.room.compareBytes()))
			c.room.results = c.room.arena()
			_, err = Find(t.Context(), c, Options{K: 1})
		}
		c.Close()
		if remaining, _ := os.ReadDir(temp); len(remaining) > 0 {
			t.Fatal(remaining)
		}
		if err == nil {
			if full < 9 || writes >= full {
				t.Errorf("%d calls; number %d failed without an error", writes, full)
			}
			return
		}
		if e, ok := errors.AsType[*spill.Error](err); !ok || e.Dir != temp || !errors.Is(err, syscall.ENOSPC) ||
			!strings.Contains(err.Error(), filepath.Base(temp)) {
			t.Fatalf("write %d: %v", full, err)
		}
	}
}
