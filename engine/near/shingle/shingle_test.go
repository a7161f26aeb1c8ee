package shingle

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// shingles is the specification, for texts of lower-case words and spaces.
func shingles(text string, n int) map[string]bool {
	words := strings.Fields(text)
	set := map[string]bool{}
	for i := range words {
		if i+n <= len(words) {
			set[strings.Join(words[i:i+n], " ")] = true
		}
	}
	if len(words) > 0 && len(words) < n {
		set[strings.Join(words, " ")] = true
	}
	return set
}

func TestJaccard(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 5 {
		s, err := New(Options{Words: n + 1})
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			var texts [2]string
			for i := range texts {
				for range rng.IntN(60) {
					texts[i] += string(rune('a'+rng.IntN(4))) + " "
				}
			}
			a, b := s.Append(nil, texts[0]), s.Append(nil, texts[1])
			x, y := shingles(texts[0], n+1), shingles(texts[1], n+1)
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
			if got := Jaccard(a, b); len(a) != len(x) || len(b) != len(y) || got != want || got > JaccardBound(len(a), len(b)) {
				t.Fatalf("%d words: %q %q: %v, want %v", n+1, texts[0], texts[1], got, want)
			}
		}
	}
}

func TestChinese(t *testing.T) {
	s, err := New(Options{Chars: 2})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Append([]uint64{7}, "中华人民共和国")
	b := s.Append(nil, "中华人民,人民共和")
	if a[0] != 7 || len(a) != 7 || !slices.IsSorted(a[1:]) {
		t.Fatal(a)
	}
	// 中华 华人 人民 民共 共和 和国, and the first five of them with 民人 across the comma.
	if got := Jaccard(a[1:], b); got != 5.0/7 {
		t.Error(got)
	}
	if _, err := New(Options{Words: 17}); err == nil {
		t.Error("shingles of 17 words")
	}
}

// windows is the specification of shingles of words and characters mixed: from each token on the fewest that are as long
// as a shingle, in exact fractions.
func windows(tokens []string, words, chars int) map[string]bool {
	set := map[string]bool{}
	for i := range tokens {
		length := new(big.Rat)
		for j := i; j < len(tokens); j++ {
			part := big.NewRat(1, int64(words))
			if tokens[j] > "\x7f" {
				part = big.NewRat(1, int64(chars))
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

// TestMixedScripts: a shingle goes on where the script changes.
func TestMixedScripts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, o := range []Options{{3, 5}, {1, 2}, {16, 1}, {1, 16}, {16, 16}, {2, 7}} {
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			var tokens [2][]string
			for i := range tokens {
				for range rng.IntN(40) {
					tokens[i] = append(tokens[i], []string{"a", "b", "c", "中", "文", "字"}[rng.IntN(6)])
				}
			}
			a, b := s.Append(nil, strings.Join(tokens[0], " ")), s.Append(nil, strings.Join(tokens[1], " "))
			x, y := windows(tokens[0], o.Words, o.Chars), windows(tokens[1], o.Words, o.Chars)
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
			if got := Jaccard(a, b); len(a) != len(x) || len(b) != len(y) || got != want {
				t.Fatalf("%+v: %q %q: %v, want %v", o, tokens[0], tokens[1], got, want)
			}
		}
	}
}

// TestOneForeignWord: a name in Latin letters in a Chinese text is no gap; five shingles have it, and the others stay.
func TestOneForeignWord(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Append(nil, "今天我们学习使用Vue编写组件"), s.Append(nil, "今天我们学习使用React编写组件")
	if len(a) != 9 || len(b) != 9 || Jaccard(a, b) != 4.0/14 {
		t.Errorf("%d and %d shingles, similarity %v", len(a), len(b), Jaccard(a, b))
	}
}
