package dedup

import (
	"fmt"
	"math"
	"testing"
)

// TestPlaces: every row has the file and the row in it that it was given, also behind line 2^32 and
// where a file comes twice.
func TestPlaces(t *testing.T) {
	var p places
	var want []Place
	for _, file := range []struct {
		name string
		rows []int64
	}{{"a", []int64{1, 2, 7}}, {"whole", []int64{0}}, {"b", []int64{1, math.MaxUint32, math.MaxUint32 + 1, 1 << 40,
		1<<40 + 5}}, {"a", []int64{3}}} {
		for _, row := range file.rows {
			want = append(want, Place{file.name, row})
			p.append(want[len(want)-1])
		}
	}
	for i := range want {
		if got := p.at(Row(i)); got != want[i] {
			t.Errorf("row %d: %v, want %v", i, got, want[i])
		}
	}
	if len(p.parts) != 6 { // b has three: two jumps are too far
		t.Errorf("%d parts", len(p.parts))
	}
}

// TestPlacesOfPrints: rows of fingerprint files are found in their files, behind an empty one too.
func TestPlacesOfPrints(t *testing.T) {
	c := &Corpus{prints: make([]uint64, 5), places: places{parts: []part{{0, "a", 1}, {2, "b", 1}}}}
	var got []string
	for row := range Row(5) {
		got = append(got, fmt.Sprint(c.Place(row)))
	}
	if want := "[{a 1} {a 2} {b 1} {b 2} {b 3}]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if at := (&Corpus{prints: make([]uint64, 1)}).Place(0); at != (Place{}) {
		t.Error(at)
	}
}

// TestFarthest: what is at most k from the one that is kept is not beyond it.
func TestFarthest(t *testing.T) {
	c := appended(t, Keep{}, Document{}, Document{Fingerprint: 0b111}, Document{Fingerprint: 0b111_111},
		Document{Fingerprint: 0b011_111})
	r := found(t, c, Options{K: 3})
	for cl := range r.Clusters() {
		for k, want := range map[int]int{2: 3, 3: 2, 4: 2, 5: 1, 6: 0} {
			if row, distance, beyond := r.Farthest(cl, k); row != 2 || distance != 6 || beyond != want {
				t.Errorf("k = %d: row %d at %d bits, %d beyond, want %d", k, row, distance, beyond, want)
			}
		}
	}
}
