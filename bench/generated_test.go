package main

import (
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestNumbered checks that the parts of generated fingerprints are all of them, each once, with their rows.
func TestNumbered(t *testing.T) {
	const n = 3*2048 + 1234
	for _, parts := range []int{1, 3} {
		var got []uint64
		for part := range parts {
			must.Do(t, generatedInput(n).Read(part, parts, func(fingerprints []uint64, row int) error {
				if row != len(got) {
					t.Errorf("row %d after %d", row, len(got))
				}
				got = append(got, fingerprints...)
				return nil
			}))
		}
		slices.Sort(got)
		if distinct := slices.Compact(got); len(distinct) != n || distinct[0] == 0 {
			t.Errorf("%d of %d are distinct, the least %x", len(distinct), n, distinct[0])
		}
	}
}
