package engine_test

import (
	"testing"

	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/permute"
)

// TestNewForEveryK checks that New chooses tables for each distance with tables, and refuses others.
func TestNewForEveryK(t *testing.T) {
	for k := range permute.MaxK + 1 {
		x, err := engine.New(k, engine.Options{NoIDs: true})
		if err != nil {
			t.Fatalf("k = %d: %v", k, err)
		}
		if d := x.Design(); d.K != k {
			t.Errorf("k = %d: tables for %d", k, d.K)
		}
		if _, err := x.Insert(t.Context(), engine.Doc{Fingerprint: 0xff}); err != nil {
			t.Errorf("k = %d: %v", k, err)
		}
		for _, distance := range []int{k, k + 1} {
			f := simhash.Fingerprint(0xff ^ (1<<distance-1)<<20)
			if hits, err := x.Query(t.Context(), f, engine.QueryOptions{K: k, Docs: 1}); err != nil || (len(hits) == 1) != (distance == k) {
				t.Errorf("k = %d, %d bits away: %v, %v", k, distance, hits, err)
			}
		}
		x.Close()
	}
	for _, k := range []int{-1, permute.MaxK + 1} {
		if _, err := engine.New(k, engine.Options{}); err == nil {
			t.Errorf("k = %d: no error", k)
		}
	}
}
