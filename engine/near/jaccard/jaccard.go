// Package jaccard says how much two texts share: the number of shingles that
// both have by the number that either has.
//
// A shingle is some words in a row, or, in scripts without spaces such as
// Chinese, some characters in a row. Texts are normalised and taken apart as
// package simhash does it, and a shingle is held as its 64-bit hash:
//
//	text --NFKC, fold case--> words, characters --n in a row--> hashes --sort--> set
//
// Two different shingles of a pair of texts have one hash with a chance of
// n^2/2^64, which for a million shingles is 5e-8.
//
// Cost: 20-100 MB of text a second and core for a set, which takes 8 bytes a
// shingle, about 1.4 bytes a byte of English; 1-2 ns an element for a
// similarity. A [Shingler] belongs to one goroutine; sets are plain slices.
package jaccard

import (
	"fmt"
	"slices"

	"ndd/engine/corpus/simhash"
)

// Options say what a shingle is. Zero is the default.
type Options struct {
	Words int // in a row, 1 to 16; default 3
	Chars int // in a row, where a script has no spaces, 1 to 16; default 5
}

// A Shingler makes sets. It reuses its memory.
type Shingler struct {
	features *simhash.Fingerprinter
}

// New makes a Shingler, or says which option is out of range.
func New(o Options) (*Shingler, error) {
	r := simhash.Default()
	r.WordShingle, r.CharShingle = 3, 5
	if o.Words != 0 {
		r.WordShingle = o.Words
	}
	if o.Chars != 0 {
		r.CharShingle = o.Chars
	}
	f, err := simhash.New(r)
	if err != nil {
		return nil, fmt.Errorf("shingles: %w", err)
	}
	return &Shingler{f}, nil
}

// Append appends the set of a text's shingles to dst, ascending, each once.
func (s *Shingler) Append(dst []uint64, text string) []uint64 {
	from := len(dst)
	dst = s.features.AppendFeatures(dst, text)
	set := dst[from:]
	slices.Sort(set)
	return dst[:from+len(slices.Compact(set))]
}

// Similarity of two sets, 0 to 1; 1 if both are empty.
func Similarity(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		if x == y {
			both++
		}
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// Bound is the most that the similarity of sets of these sizes can be.
func Bound(a, b int) float64 {
	if a+b == 0 {
		return 1
	}
	return float64(min(a, b)) / float64(max(a, b))
}
