package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/oracle/hostile"
	"ndd/engine/oracle/must"
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
	prints := make([]uint64, 70_000)
	for i := range prints {
		prints[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	list := hostile.Sections(t, writtenTo(t, Input{Fingerprints: prints}, Options{Design: design(t, 4)}),
		store.KindSegment)
	head := slices.IndexFunc(list, func(s store.Section) bool { return s.Name == "segment" })
	sound := list[head].Data
	for field, ok := range map[string]bool{
		`"ordinalBase":137`: true, `"ordinalBase":136`: false, `"ordinalBase":1`: false, `"ordinalBase":0`: false,
		`"ordinalBase":70000`:       false,
		`"ordinalBase":99999999999`: false, `"ordinalRadix":137`: false,
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
