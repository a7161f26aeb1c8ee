package simhash

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for _, words := range [][]uint64{nil, {}, {1}, {3, 1 << 63}} {
		prints := Fingerprints(words)
		if len(prints) != len(words) || !slices.Equal(Words(prints), words) {
			t.Errorf("%v: %v", words, prints)
		}
		if len(words) > 0 {
			if prints[0] = 7; words[0] != 7 {
				t.Error("a copy")
			}
		}
	}
}
