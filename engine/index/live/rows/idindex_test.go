package rows

import (
	"slices"
	"testing"
)

// TestIndexRepeated indexes one ID many times: only its first row may take a slot, or else each row would look for
// space behind all earlier ones.
func TestIndexRepeated(t *testing.T) {
	const n = 100
	ids := func(yield func(string, error) bool) {
		for row := range n {
			id := [3]string{"often", "", "rare"}[min(row%2, 1)]
			if row == n-1 {
				id = "rare"
			}
			if !yield(id, nil) {
				return
			}
		}
	}
	var key IDKey
	repeated := 0
	x, err := IndexIDs(&key, n, ids, func(h uint64) {
		if repeated++; h != key.Hash("often") {
			t.Errorf("hash %x is repeated", h)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Free()
	used := len(slices.DeleteFunc(slices.Clone(x.Slots), func(s uint64) bool { return s == 0 }))
	if repeated != n/2-1 || used != 2 {
		t.Errorf("%d repetitions and %d slots; %d and 2 are expected", repeated, used, n/2-1)
	}
	for id, row := range map[string]uint64{"often": 0, "rare": n - 1} {
		x.Rows(key.Hash(id), func(r uint64) bool {
			if r != row {
				t.Errorf("%s is in row %d, expected in row %d", id, r, row)
			}
			return true
		})
	}
}
