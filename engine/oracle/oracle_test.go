package oracle

import (
	"reflect"
	"testing"

	"example.org/ndd/engine/oracle/sets"
)

// TestSearch compares Search with an example that is small enough to check by hand.
func TestSearch(t *testing.T) {
	base := []uint64{0b0000, 0b0111, 0b0001, 0b0000, 0b1111}
	got := Search(base, []uint64{0b0000, 1 << 63}, 1)
	want := []Hit{{0, 0, 0, 0}, {0, 0, 0, 3}, {0, 1, 1, 2}, {1, 1, 0, 0}, {1, 1, 0, 3}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if got := Pairs(base, 1); !reflect.DeepEqual(got, []Pair{{0, 2}, {0, 3}, {1, 4}, {2, 3}}) {
		t.Errorf("pairs %v", got)
	}
	if Search(nil, base, 3) != nil || Search(base, nil, 3) != nil || Pairs(nil, 3) != nil {
		t.Error("something out of nothing")
	}
}

// TestChecksum compares with an independent brute force over the same set, written in C with vector instructions.
func TestChecksum(t *testing.T) {
	base, queries := sets.Planted(20_000, 1_000)
	hits := Search(base, queries, 3)
	if sum := Checksum(hits); len(hits) != 483 || sum != 0xc04db04f9f51f40d {
		t.Errorf("%d hits, checksum %016x", len(hits), sum)
	}
}
