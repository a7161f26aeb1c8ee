package segment

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/oracle/hostile"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// TestDocuments writes few documents, whose numbers are packed, and many, of which they are in
// blocks: the segment gives back the rows of each fingerprint, ascending.
func TestDocuments(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 1))
	for _, c := range []struct {
		docs  int
		base  uint64
		equal int // documents of a fingerprint, about
	}{{1000, 0, 1}, {1000, 0, 3}, {70_000, 137, 1}, {70_000, 137, 3}, {90_000, 11, 2}, {131_072, 0, 1}} {
		t.Run(fmt.Sprintf("docs=%d/equal=%d", c.docs, c.equal), func(t *testing.T) {
			prints := make([]uint64, c.docs)
			docs := make(map[uint64][]uint64)
			for i := range prints {
				if prints[i] = rng.Uint64(); c.equal > 1 && i > 0 && rng.IntN(c.equal) > 0 {
					prints[i] = prints[rng.IntN(i)]
				}
				docs[prints[i]] = append(docs[prints[i]], uint64(i))
			}
			s := inMemory(t, prints, Options{Design: design(t, 4), Table: table.Options{Layout: table.LayoutPlanar}})
			if s.meta.OrdinalBase != c.base {
				t.Fatalf("base %d, want %d", s.meta.OrdinalBase, c.base)
			}
			must.Do(t, s.Check())
			var scratch Scratch
			ranges := make([]Range, len(prints))
			must.Do(t, s.Locate(ranges, prints, &scratch))
			for i, r := range ranges {
				if got, err := s.AppendDocs(nil, r, c.docs); err != nil || !slices.Equal(got, docs[prints[i]]) {
					t.Fatalf("documents of %016x: %v, %v; want %v", prints[i], got, err, docs[prints[i]])
				}
			}
		})
	}
}

// TestOrdinalBase: a segment whose head tells another base than its ordinals have, or one that
// there is not, is refused; so it is by a reader that does not know the field, as every unknown
// one.
func TestOrdinalBase(t *testing.T) {
	list := hostile.Sections(t, writtenTo(t, Input{Fingerprints: sets.Uniform(70_000, 3)}, Options{Design: design(t, 4)}),
		store.KindSegment)
	head := slices.IndexFunc(list, func(s store.Section) bool { return s.Name == "segment" })
	sound := list[head].Data
	for field, ok := range map[string]bool{
		`"ordinalBase":137`: true, `"ordinalBase":136`: false, `"ordinalBase":1`: false, `"ordinalBase":0`: false,
		`"ordinalBase":70000`: false, `"ordinalBase":99999999999`: false, `"ordinalRadix":137`: false,
	} {
		list[head].Data = bytes.Replace(sound, []byte(`"ordinalBase":137`), []byte(field), 1)
		s, err := Open(hostile.File(t, store.KindSegment, list))
		if (err == nil) != ok {
			t.Errorf("%s: %v", field, err)
		}
		if hostile.Says(t, field, err); err == nil {
			s.Close()
		}
	}
}

// TestNoDocs: a segment that keeps no documents has the tables, byte for byte, and the answers of
// one that does, in memory and through a temporary file; it takes less, finds nobody's documents,
// and says so where they are asked for.
func TestNoDocs(t *testing.T) {
	t.Parallel()
	for _, set := range sets.All(3000, 300, 3, 4) {
		for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
			o := Options{Design: design(t, 4), Table: table.Options{Layout: layout}, Threads: 2}
			var all, alone store.Memory
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

func opened(t testing.TB, m *store.Memory) *Segment {
	t.Helper()
	s, err := Open(m.Source())
	must.Do(t, err)
	t.Cleanup(s.Close)
	return s
}

// TestNoDocsExternal: with little memory the keys go through a temporary file, and the segment is
// the same.
func TestNoDocsExternal(t *testing.T) {
	t.Parallel()
	const n = 2*roomLeast + 1000
	prints := sets.Uniform(n, 3)
	copy(prints[n/2:], prints[:n/8])
	o := Options{Design: design(t, 4), Threads: 1, Table: table.Options{Layout: table.LayoutPlanar}, NoDocs: true}
	want := written(t, Input{Fingerprints: prints}, o)
	o.Budget, o.TempDir = memory.NewBudget(memory.Set(smallBytes(n, o)+n)), t.TempDir()
	if p, err := NewPlan(n, o); err != nil || !p.External {
		t.Fatalf("%+v, %v", p, err)
	}
	if !bytes.Equal(written(t, Input{Fingerprints: prints}, o), want) {
		t.Error("another file")
	}
	if all, none := NeedBytes(n, Options{}), NeedBytes(n, Options{NoDocs: true}); none >= all {
		t.Errorf("%d bytes to build without documents, %d with them", none, all)
	}
	var m store.Memory
	in := Input{Fingerprints: prints, Lengths: slices.Values([][]uint32{make([]uint32, n)})}
	if err := Write(t.Context(), &m, in, o); err == nil || !strings.Contains(err.Error(), "not to be kept") {
		t.Errorf("lengths of documents that are not kept: %v", err)
	}
}
