package segment

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
)

// TestDocuments writes few and many documents, and reads the rows of each fingerprint.
func TestDocuments(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 1))
	for _, c := range []struct {
		docs  int
		equal int // documents of a fingerprint, about
	}{{1, 1}, {1000, 1}, {1000, 3}, {70_000, 1}, {70_000, 3}, {131_072, 1}} {
		t.Run(fmt.Sprintf("docs=%d/equal=%d", c.docs, c.equal), func(t *testing.T) {
			fingerprints := make([]uint64, c.docs)
			docs := make(map[uint64][]uint64)
			for i := range fingerprints {
				if fingerprints[i] = rng.Uint64(); c.equal > 1 && i > 0 && rng.IntN(c.equal) > 0 {
					fingerprints[i] = fingerprints[rng.IntN(i)]
				}
				docs[fingerprints[i]] = append(docs[fingerprints[i]], uint64(i))
			}
			s := inMemory(t, fingerprints, Options{Design: design(t, 4), Table: table.Options{Layout: table.LayoutPlanar}})
			must.Do(t, s.Check())
			var scratch Scratch
			ranges := make([]Range, len(fingerprints))
			must.Do(t, s.Locate(ranges, fingerprints, &scratch))
			for i, r := range ranges {
				if got, err := s.AppendDocs(nil, r, c.docs); err != nil || !slices.Equal(got, docs[fingerprints[i]]) {
					t.Fatalf("documents of %016x: %v, %v; want %v", fingerprints[i], got, err, docs[fingerprints[i]])
				}
			}
		})
	}
}

// TestNoDocs compares a segment without documents with one that keeps them. The tables and answers are the same, it
// needs less memory, and it returns ErrNoDocs.
func TestNoDocs(t *testing.T) {
	t.Parallel()
	for _, set := range sets.All(3000, 300, 3, 4) {
		for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
			o := Options{Design: design(t, 4), Table: table.Options{Layout: layout}, Threads: 2}
			var all, alone sections.Memory
			must.Do(t, Write(t.Context(), &all, Input{Fingerprints: set.Base}, o))
			o.NoDocs = true
			must.Do(t, Write(t.Context(), &alone, Input{Fingerprints: set.Base}, o))
			with, without := opened(t, &all), opened(t, &alone)
			for i := range o.Design.Tables {
				for _, part := range []string{"head", "low", "rest", "blocks", "last"} {
					a, err := all.Source().Section(TablePrefix(i) + part)
					b, missing := alone.Source().Section(TablePrefix(i) + part)
					if (err == nil) != (missing == nil) || !bytes.Equal(a.Data, b.Data) {
						t.Fatalf("%s, %s, table %d: another %s", set.Name, layout, i, part)
					}
				}
			}
			if _, err := alone.Source().Section("ids.ordinals"); err == nil {
				t.Errorf("%s: documents are kept", set.Name)
			}
			var c Scratch
			a, err := with.Search(nil, set.Queries, 3, &c)
			must.Do(t, err)
			b, err := without.Search(nil, set.Queries, 3, &c)
			compareMatches(t, set.Name, b, a)
			if err != nil || with.Documents() != without.Documents() || with.Fingerprints() != without.Fingerprints() {
				t.Errorf("%s, %s: other sizes, error %v", set.Name, layout, err)
			}
			if err := without.Check(); err != nil {
				t.Errorf("%s, %s: %v", set.Name, layout, err)
			}
			if err := Write(t.Context(), nowhere{}, Input{Sources: []Source{{Segment: without}}},
				Options{Design: *without.Design()}); !errors.Is(err, ErrNoDocs) {
				t.Errorf("%s, %s: %v", set.Name, layout, err)
			}
			ranges := []Range{{3, 9}, {1, 2}}[:min(2, len(set.Base))]
			if err := without.Locate(ranges, set.Base[:len(ranges)], &c); err != nil || len(ranges) > 0 && ranges[0].Len() > 0 {
				t.Errorf("%s, %s: documents %v, %v", set.Name, layout, ranges, err)
			}
		}
	}
}

func opened(t testing.TB, m *sections.Memory) *Segment {
	t.Helper()
	s, err := Open(m.Source())
	must.Do(t, err)
	t.Cleanup(s.Close)
	return s
}

// TestNoDocsExternal builds with little memory, through a temporary file: the segment is the same.
func TestNoDocsExternal(t *testing.T) {
	t.Parallel()
	const n = 2*roomMin + 1000
	fingerprints := sets.Uniform(n, 3)
	copy(fingerprints[n/2:], fingerprints[:n/8])
	o := Options{Design: design(t, 4), Threads: 1, Table: table.Options{Layout: table.LayoutPlanar}, NoDocs: true}
	want := written(t, Input{Fingerprints: fingerprints}, o)
	o.Budget, o.TempDir = memory.NewBudget(memory.Set(smallBytes(n, o)+n)), t.TempDir()
	if p, err := NewPlan(n, o); err != nil || !p.External {
		t.Fatalf("%+v, %v", p, err)
	}
	if !bytes.Equal(written(t, Input{Fingerprints: fingerprints}, o), want) {
		t.Error("another file")
	}
	if all, none := NeedBytes(n, Options{}), NeedBytes(n, Options{NoDocs: true}); none >= all {
		t.Errorf("%d bytes to build without documents, %d with them", none, all)
	}
	var m sections.Memory
	in := Input{Fingerprints: fingerprints, IDs: func(func(string, error) bool) {}}
	if err := Write(t.Context(), &m, in, o); err == nil || !strings.Contains(err.Error(), "no documents to keep") {
		t.Errorf("IDs of documents that are not kept: %v", err)
	}
}
