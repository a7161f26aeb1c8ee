package rows

import (
	"fmt"
	"maps"
	"testing"
)

// TestRepeatedIDs looks for one ID that occurs many times, and one that occurs twice, in one pass and in several. In
// several passes, the repetitions outnumber the slots: if each took one, no slot would be free, and the test would not end.
func TestRepeatedIDs(t *testing.T) {
	const n = 100_000
	ids := func(yield func(string, error) bool) {
		for row := range n {
			id := "often"
			switch {
			case row%2 == 1:
				id = fmt.Sprint(row % (n - 2)) // the last one is that of row 1
			case row%4 == 2:
				id = ""
			}
			if !yield(id, nil) {
				return
			}
		}
	}
	var key IDKey
	want := map[uint64]bool{key.Hash("often"): true, key.Hash("1"): true}
	for _, passes := range []uint64{1, 2, 25} {
		got, err := RepeatedIDs(&key, n, passes, ids)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%d passes: %v, %v; %v is expected", passes, got, err, want)
		}
	}
}
