package shingle

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// windows is the specification: from each token on the fewest that are as long as a shingle, in
// exact fractions.
func windows(tokens []string) map[string]bool {
	set := map[string]bool{}
	for i := range tokens {
		length := new(big.Rat)
		for j := i; j < len(tokens); j++ {
			part := big.NewRat(1, words)
			if tokens[j] > "\x7f" {
				part = big.NewRat(1, chars)
			}
			if length.Add(length, part); length.Cmp(big.NewRat(1, 1)) >= 0 {
				set[strings.Join(tokens[i:j+1], " ")] = true
				break
			}
		}
	}
	if len(set) == 0 && len(tokens) > 0 {
		set[strings.Join(tokens, " ")] = true
	}
	return set
}

// TestJaccard holds sets and similarities of texts in one script and in several against the
// specification.
func TestJaccard(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := New(t.Context())
	for range 2000 {
		alphabet := [][]string{{"a", "b", "c", "d"}, {"中", "文", "字"}, {"a", "b", "c", "中", "文", "字"}}[rng.IntN(3)]
		var tokens [2][]string
		for i := range tokens {
			for range rng.IntN(50) {
				tokens[i] = append(tokens[i], alphabet[rng.IntN(len(alphabet))])
			}
		}
		a, b := s.Append([]uint64{7}, strings.Join(tokens[0], " "))[1:], s.Append(nil, strings.Join(tokens[1], " "))
		x, y := windows(tokens[0]), windows(tokens[1])
		both := 0
		for shingle := range x {
			if y[shingle] {
				both++
			}
		}
		want := 1.0
		if len(x)+len(y) > 0 {
			want = float64(both) / float64(len(x)+len(y)-both)
		}
		if got := Jaccard(a, b); len(a) != len(x) || len(b) != len(y) || got != want ||
			!slices.IsSorted(a) {
			t.Fatalf("%q %q: %d and %d shingles, similarity %v, want %v", tokens[0], tokens[1], len(a), len(b), got, want)
		}
	}
}

// TestRepeats: a text that repeats itself has the same set, in memory for the set rather than the text.
func TestRepeats(t *testing.T) {
	s := New(t.Context())
	var numbers strings.Builder
	for i := range compactFrom {
		fmt.Fprint(&numbers, i, " ")
	}
	for _, text := range []string{strings.Repeat("\u3300", compactFrom/2),
		strings.Repeat(numbers.String(), 3), strings.Repeat("a b c d ", compactFrom) + numbers.String()} {
		_, _, grams := s.trace(text)
		want := make([]uint64, len(grams))
		for i, g := range grams {
			want[i] = g.hash
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got := s.Append([]uint64{7}, text)
		if !slices.Equal(got[1:], want) || cap(got) > 3*max(compactFrom, len(want)) {
			t.Errorf("%.20q: %d shingles of %d in room for %d", text, len(got)-1, len(want), cap(got))
		}
	}
}
