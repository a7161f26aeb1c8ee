package segment

import (
	"slices"
	"strings"
	"testing"

	"ndd/engine/oracle/hostile"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
)

// withLengths writes a segment of fingerprints whose texts have these lengths, and returns its
// file.
func withLengths(t *testing.T, lengths [][]uint32) string {
	t.Helper()
	return writtenTo(t, Input{Fingerprints: []uint64{5, 3, 5, 9}, Lengths: slices.Values(lengths)},
		Options{Design: design(t, 4)})
}

// TestLengths keeps the lengths of texts by row, in whatever pieces they come, and of segments
// without them says so.
func TestLengths(t *testing.T) {
	f, err := store.Open(withLengths(t, [][]uint32{{10, 20}, {}, {30, 0}}), store.KindSegment)
	must.Do(t, err)
	defer f.Close()
	s, err := Open(f)
	must.Do(t, err)
	defer s.Close()
	if want := []uint32{10, 20, 30, 0}; !slices.Equal(s.Lengths(), want) {
		t.Errorf("%v, want %v", s.Lengths(), want)
	}
	golden, err := Open(hostile.File(t, store.KindSegment, goldenSections(t, layouts[0])))
	must.Do(t, err)
	defer golden.Close()
	if golden.Lengths() != nil {
		t.Error("a segment that was written without lengths has some")
	}
	err = Write(t.Context(), new(store.Memory), Input{Fingerprints: []uint64{1, 2},
		Lengths: slices.Values([][]uint32{{7}})},
		Options{Design: design(t, 4)})
	if err == nil || !strings.Contains(err.Error(), "1 lengths of texts for 2 documents") {
		t.Errorf("too few lengths: %v", err)
	}
}

// TestHostileLengths is TestHostile for a segment with lengths.
func TestHostileLengths(t *testing.T) {
	list := hostile.Sections(t, withLengths(t, [][]uint32{{10, 20, 30, 0}}), store.KindSegment)
	exerciseAll(t, list, 7)
}
