package members

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/input"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
	"ndd/engine/near/dedup"
	"ndd/engine/near/keep"
	"ndd/engine/near/rowset"
	"ndd/engine/near/shingle"
	"ndd/engine/oracle"
	"ndd/engine/oracle/files"
	"ndd/engine/oracle/hostile"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// Two texts.
const (
	rivers = "Rivers carry stones from the mountains to the plain, " +
		"and the further they carry them the smaller they become"
	bread = "Bread needs four things: flour, water, salt and time, " +
		"and the last is what most bakers are short of"
)

// inParts returns the corpus of the shares of the folder in, and the names of files with the shingles
// of the documents that are near another.
func inParts(t *testing.T, of int, order keep.Order, o dedup.Options) (*dedup.Corpus, []string) {
	t.Helper()
	var paths, sets []string
	for i := range of {
		paths = append(paths, shareOf(t, i, of))
	}
	slices.Reverse(paths)
	c, err := dedup.ReadPrints(t.Context(), paths, dedup.ReadOptions{Keep: order})
	must.Do(t, err)
	t.Cleanup(c.Close)
	table := "file\trow\ttext_bytes\n"
	errTable := errors.New("a table is written")
	o.Verify = &dedup.Verify{Sets: func(_ context.Context, d dedup.Documents, rows []dedup.Row, _ *shingle.Sets) error {
		for m := range Of(d, rows) {
			row := fmt.Sprint(m.Row)
			if m.Row == 0 {
				row = ""
			}
			table += fmt.Sprintf("%s\t%s\t%d\n", m.File, row, m.TextBytes)
		}
		return errTable
	}}
	if _, err := dedup.Find(t.Context(), c, o); !errors.Is(err, errTable) {
		t.Fatal(err)
	}
	files.Write(t, map[string]string{"members.tsv": table})
	for i := range of {
		share, err := input.NewShare(t.Context(), []string{"in"}, i, of)
		must.Do(t, err)
		m, err := Read(t.Context(), "members.tsv", []string{"in"}, share)
		must.Do(t, err)
		sets = append(sets, fmt.Sprintf("%d.sets", i))
		cfg := ingest.Config{Document: format.Options{Share: share}, Threads: 1 + i%2}
		must.Do(t, m.WriteSets(t.Context(), sets[i], []string{"in"}, cfg, store.Options{}))
	}
	return c, sets
}

// TestSets: shares of a folder, of any number and in any order, have the result of the folder, with the places of the
// documents and those that are too short; texts compared by their files of shingles decide as the texts do.
func TestSets(t *testing.T) {
	sharedCorpus(t)
	long := rivers + "; " + bread + "; the wind over the pass is cold in the evening and the goats come down before it does"
	files.Write(t, map[string]string{"in/y.txt": long, "in/z.txt": long + " again"}) // near, and not the same
	rule, err := dedup.ParseRule("jaccard>=0.7 or contained>=0.9")
	must.Do(t, err)
	for _, order := range []keep.Order{{}, {{Policy: keep.Longest}}} {
		for _, chains := range []bool{false, true} {
			o := dedup.Options{K: 8, Chains: chains, Verify: &dedup.Verify{Rule: rule}}
			whole, _, err := dedup.ReadDocuments(t.Context(), []string{"in"}, ingest.Config{}, dedup.ReadOptions{Keep: order})
			must.Do(t, err)
			defer whole.Close()
			want, plain := said(t, whole, o), said(t, whole, dedup.Options{K: 3})
			if strings.Contains(plain, "few") || !strings.Contains(plain, "in/b/d.txt") || len(plain) < 1000 {
				t.Fatal(plain)
			}
			for _, of := range []int{1, 4, 20} {
				c, sets := inParts(t, of, order, o)
				if got := said(t, c, dedup.Options{K: 3}); got != plain {
					t.Errorf("%d shares say\n%s\nwant\n%s", of, got, plain)
				}
				slices.Reverse(sets)
				parts := o
				parts.Verify = &dedup.Verify{Rule: rule, Sets: Sets(sets, 2)}
				if got := said(t, c, parts); got != want {
					t.Errorf("%d shares, chains %v: got\n%s\nwant\n%s", of, chains, got, want)
				}
				if of != 4 {
					continue // the first file has nothing, or all
				}
				for says, sets := range map[string][]string{"are missing, the first is in/": sets[1:],
					"has shingles that another file has": append(sets, sets[0])} {
					parts.Verify.Sets = Sets(sets, 2)
					if _, err := dedup.Find(t.Context(), c, parts); !errors.Is(err, simhash.ErrMixed) ||
						!strings.Contains(err.Error(), says) {
						t.Errorf("%q: %v, want %s", sets, err, says)
					}
				}
				parts.Verify.Sets, parts.K = Sets(sets, 2), 0
				if _, err := dedup.Find(t.Context(), c, parts); !errors.Is(err, simhash.ErrMixed) ||
					!strings.Contains(err.Error(), "for a table of other members") {
					t.Errorf("sets for another k: %v", err)
				}
			}
		}
	}
	// A document that is not what it was, or not there any more.
	m, err := Read(t.Context(), "members.tsv", []string{"in"}, nil)
	must.Do(t, err)
	for text, says := range map[string]string{`{"text":"` + bread + ` and this"}` + "\n": "in/0.jsonl:1: changed since",
		"": "were not found"} {
		files.Write(t, map[string]string{"in/0.jsonl": text})
		err := m.WriteSets(t.Context(), "x.sets", []string{"in"}, ingest.Config{}, store.Options{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
		if _, err := os.Stat("x.sets"); err == nil {
			t.Error("a file of shingles is left")
		}
	}
}

// TestHostileSets changes files of shingles: every one is read, or refused with a place.
func TestHostileSets(t *testing.T) {
	sharedCorpus(t)
	_, paths := inParts(t, 1, nil, dedup.Options{K: 8})
	list := hostile.Sections(t, paths[0], store.KindShingles)
	table := store.Uint64s(list[3].Data)
	digest, n := table[0], int(table[1])
	hostile.Each(list, 1000, 7, func(changed []store.Section) {
		file := hostile.File(t, store.KindShingles, changed)
		defer file.Close()
		sets, err := shingle.NewSets(new(memory.Arena), n, 1<<30, "", nil)
		must.Do(t, err)
		defer sets.Close()
		var have rowset.Set
		if _, err := readSetFile(t.Context(), file, digest, n, &have, sets, 1); err != nil &&
			!errors.Is(err, simhash.ErrMixed) {
			hostile.Says(t, "shingles", err)
		}
	})
}
