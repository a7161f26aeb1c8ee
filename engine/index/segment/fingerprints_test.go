package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// TestPrints reads the fingerprints of all rows, some at a time, in both layouts, and compares them with the input.
func TestPrints(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, set := range sets.All(3000, 1, 3, 9) {
		for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
			t.Run(fmt.Sprintf("%s/%s", set.Name, layout), func(t *testing.T) {
				s := inMemory(t, set.Base, Options{Design: design(t, 4), Table: table.Options{Layout: layout}})
				var got []uint64
				for len(got) < len(set.Base) {
					some := make([]uint64, min(1+rng.IntN(2000), len(set.Base)-len(got)))
					must.Do(t, s.ReadFingerprints(t.Context(), some, uint64(len(got))))
					got = append(got, some...)
				}
				if !slices.Equal(got, set.Base) {
					t.Error("other fingerprints, or in another order")
				}
				ctx, end := context.WithCancel(t.Context())
				end()
				if err := s.ReadFingerprints(ctx, got, 0); len(got) > 0 && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
	}
}

// TestPrintsHostile repeats some ordinals and omits others, with right checksums: this is damage.
func TestPrintsHostile(t *testing.T) {
	list := hostile.Sections(t, writtenTo(t, Input{Fingerprints: sets.Uniform(1000, 7)}, Options{Design: design(t, 4),
		Table: table.Options{Layout: table.LayoutPlanar}}), store.KindSegment)
	pos := slices.IndexFunc(list, func(s store.Section) bool { return s.Name == "ids.ordinals" })
	clear(list[pos].Data)
	s, err := Open(hostile.File(t, store.KindSegment, list))
	must.Do(t, err)
	defer s.Close()
	err = s.ReadFingerprints(t.Context(), make([]uint64, 1000), 0)
	if !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%v", err)
	}
}
