package scan

import (
	"bytes"
	"testing"

	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// TestRelease checks that a chunk that is given back is filled again.
func TestRelease(t *testing.T) {
	arrays := map[*uint64]bool{}
	err := Reader(bytes.NewReader(store.Bytes64(sets.Uniform(1000, 1))), 10)(func(c Chunk) bool {
		arrays[&c.Fingerprints[0]] = true
		c.Release()
		return true
	})
	if err != nil || len(arrays) > 50 { // the race detector lets a sync.Pool forget a quarter
		t.Fatalf("%v: %d arrays for 100 chunks that are given back", err, len(arrays))
	}
}
