package shingle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// windows is the specification: 3 words or 5 characters of a run, where a word is spelled if a character was among the
// last 8 tokens before it, or all of a shorter run.
func windows(tokens []string) map[string]bool {
	var runs [][]string
	last, since := 0, 8
	for _, word := range tokens {
		kind, units := 3, []string{word}
		if word > "\x7f" {
			kind, since = 5, 0
		} else if since < 8 {
			kind, since, units = 5, since+1, strings.Split(word, "")
		}
		if kind != last {
			runs, last = append(runs, nil), kind
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], units...)
	}
	set := map[string]bool{}
	for _, run := range runs {
		width := 3
		if slices.ContainsFunc(run, func(u string) bool { return u > "\x7f" }) {
			width = 5
		}
		width = min(width, len(run))
		for i := range len(run) - width + 1 {
			set[strings.Join(run[i:i+width], " ")] = true
		}
	}
	return set
}

// TestJaccard compares sets and similarities of texts, in one script and in several, with the specification.
func TestJaccard(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := New(t.Context())
	for range 2000 {
		alphabet := [][]string{{"a", "b", "c", "d"}, {"中", "文", "字"}, {"a", "bb", "c", "中", "文", "字"}}[rng.IntN(3)]
		var tokens [2][]string
		for i := range tokens {
			for range rng.IntN(50) {
				tokens[i] = append(tokens[i], alphabet[rng.IntN(len(alphabet))])
			}
		}
		a, b := s.Append([]uint64{7}, strings.Join(tokens[0], " "))[1:], s.Append(nil, strings.Join(tokens[1], " "))
		x, y := windows(tokens[0]), windows(tokens[1])
		shared := 0
		for shingle := range x {
			if y[shingle] {
				shared++
			}
		}
		want := 1.0
		if len(x)+len(y) > 0 {
			want = float64(shared) / float64(len(x)+len(y)-shared)
		}
		if got := Jaccard(a, b); len(a) != len(x) || len(b) != len(y) || got != want ||
			!slices.IsSorted(a) {
			t.Fatalf("%q %q: %d and %d shingles, similarity %v, want %v", tokens[0], tokens[1], len(a), len(b), got, want)
		}
	}
}

// TestVectors checks that the texts of 'ndd help recipes' have the number of shingles given there, in all versions.
func TestVectors(t *testing.T) {
	s := New(t.Context())
	for _, c := range []struct {
		text     string
		shingles int
		first    uint64
	}{
		{"the quick brown fox jumps", 3, 0x16657ea652dd4cab},
		{"the quick", 1, 0xc7ba2edbeb97fad7},
		{"名称是 Go 的产品", 4, 0x1372117282d94067},
		{"目录 a b c d e f g h i j k", 7, 0x00ab71b46a50a3a7},
	} {
		if set := s.Append(nil, c.text); len(set) != c.shingles || set[0] != c.first {
			t.Errorf("%q: %d shingles, %x; want %d, %x", c.text, len(set), set[0], c.shingles, c.first)
		}
	}
	const label = "本产品的名称是 %s，生产地址是 %s，使用前请仔细阅读说明书，并妥善保管以备查阅，如有疑问请联系客服人员。"
	one := s.Append(nil, fmt.Sprintf(label, "Thunderbolt Professional Workstation", "Greenfield Industrial Estate"))
	other := s.Append(nil, fmt.Sprintf(label, "Cinnamon Almond Breakfast", "Harbour Street Copenhagen"))
	if j := Jaccard(one, other); j > 0.5 {
		t.Errorf("labels of different goods have the similarity %.3f", j)
	}
}

// TestRepeats checks that a text that repeats itself has the same set, in memory for the set rather than the text.
func TestRepeats(t *testing.T) {
	s := New(t.Context())
	var numbers strings.Builder
	for i := range compactFrom {
		fmt.Fprint(&numbers, i, " ")
	}
	for _, text := range []string{strings.Repeat("\u3300", compactFrom/2),
		strings.Repeat(numbers.String(), 3), strings.Repeat("a b c d ", compactFrom) + numbers.String()} {
		grams := s.trace(text).grams
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
