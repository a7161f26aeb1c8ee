package simhash

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/oracle/must"
)

// The twin below is written from the package comment, with maps.

// splitMix64 is the generator as published: number n, from 0, from state 0.
func splitMix64(n uint64) uint64 {
	z := (n + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func twinMum(a, b uint64) uint64 {
	p := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	low := new(big.Int).And(p, new(big.Int).SetUint64(math.MaxUint64))
	return new(big.Int).Rsh(p, 64).Uint64() ^ low.Uint64()
}

// twinToken is the hash of a token.
func twinToken(key []byte, s string) (h uint64) {
	k := func(i int) uint64 { return splitMix64(binary.LittleEndian.Uint64(key[8*i:])) }
	for tail := s; tail != ""; tail = tail[min(16, len(tail)):] {
		block := []byte(tail[:min(16, len(tail))] + strings.Repeat("\x00", 16))
		h = twinMum(binary.LittleEndian.Uint64(block)^h^k(0), binary.LittleEndian.Uint64(block[8:])^k(1))
	}
	return twinMum(h^k(2), uint64(len(s))^k(3))
}

// twinFeatures is the set of features with their weights.
func twinFeatures(r Recipe, text string) map[uint64]int {
	key, _ := hex.DecodeString(r.Key)
	lexicon := token.NewLexicon()
	lexicon.AddLanguage(r.StopWords)
	scanner, _ := token.NewScanner(token.Options{Lexicon: lexicon})
	features := map[uint64]int{}
	add := func(h uint64, weight int) {
		if weight > 0 {
			features[h] = weight
		}
	}
	var hashes []uint64
	var kinds []token.Kind
	scanner.Scan(text, func(tokens []token.Token) {
		for i := range tokens {
			if t := &tokens[i]; !t.Stop {
				s := scanner.AppendText(nil, t)
				hashes = append(hashes, twinToken(key, string(s)))
				kinds = append(kinds, t.Kind)
			}
		}
	})
	for i, h := range hashes {
		add(h, map[token.Kind]int{token.Word: r.WordWeight, token.Char: r.CharWeight}[kinds[i]])
		if i > 0 {
			weight := r.CharPairWeight
			if kinds[i-1] == token.Word && kinds[i] == token.Word {
				weight = r.WordPairWeight
			}
			add(twinMum(hashes[i-1]^0x243f6a8885a308d3, h^0x13198a2e03707344), weight)
		}
	}
	return features
}

// twinFingerprint is the fingerprint and the number of filled bins.
func twinFingerprint(r Recipe, text string) (fp Fingerprint, filled int) {
	winners := map[uint64]uint64{}
	for h, weight := range twinFeatures(r, text) {
		divisor := (1<<59 + uint64(weight) - 1) / uint64(weight)
		product := new(big.Int).Mul(new(big.Int).SetUint64(h%(1<<58)), new(big.Int).SetUint64(divisor))
		rank := product.Rsh(product, 59).Uint64()
		if w, ok := winners[h>>58]; !ok || rank < w {
			winners[h>>58] = rank
		}
	}
	if len(winners) < r.MinBins {
		return 0, len(winners)
	}
	for j := range uint64(64) {
		winner, ok := winners[j]
		for t := uint64(1); !ok; t++ {
			winner, ok = winners[splitMix64(64*t+j)>>58]
		}
		if winner*(splitMix64(j)|1)>>63 == 1 {
			fp |= 1 << j
		}
	}
	return fp, len(winners)
}

// minwiseRecipes returns the named minwise recipes and some with other settings.
func minwiseRecipes() []Recipe {
	a, b := Minwise(), MinwisePairs()
	a.StopWords, a.WordWeight, a.CharWeight, a.CharPairWeight, a.MinBins = "en", 1, 16, 0, 1
	b.StopWords, b.Key, b.WordWeight, b.CharPairWeight, b.WordPairWeight = "en", key('0'), 2, 16, 8
	c := MinwisePairs()
	c.WordWeight, c.CharWeight, c.CharPairWeight, c.WordPairWeight = 7, 5, 0, 13
	return []Recipe{Minwise(), MinwisePairs(), a, b, c}
}

func checkMinwise(t rapid.TB, r Recipe, text string) {
	t.Helper()
	f, err := New(r)
	must.Do(t, err)
	got, filled, ok := f.Fingerprint(text)
	want, wantFilled := twinFingerprint(r, text)
	if got != want || filled != wantFilled || ok != (filled >= r.MinBins) {
		t.Fatalf("%v: %q: %v with %d bins, ok %v; by the definition %v with %d", r, text, got, filled, ok, want, wantFilled)
	}
	features := map[uint64]int{}
	for _, feature := range f.AppendFeatures(nil, text) {
		features[feature.Hash] = int(feature.Weight)
	}
	if want := twinFeatures(r, text); !maps.Equal(features, want) {
		t.Fatalf("%v: %q: features %v, by the definition %v", r, text, features, want)
	}
	if again, _, _ := f.Fingerprint(text); again != got {
		t.Fatalf("%v: %q: %v at first, then %v", r, text, got, again)
	}
}

// TestMinwiseAgainstTwin compares the sketch with an implementation of its definition that shares no code with it.
func TestMinwiseAgainstTwin(t *testing.T) {
	for _, r := range minwiseRecipes() {
		checkMinwise(t, r, fmt.Sprint(texts))
		word := rapid.OneOf(rapid.SampledFrom([]string{"the", "lighthouse",
			"中", "文", "カ", "ß", "x1", "1.5", "กา", "12345678901234567"}),
			rapid.StringMatching(`[a-z]{1,40}`))
		rapid.Check(t, func(t *rapid.T) {
			checkMinwise(t, r, strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "words"), " "))
		})
	}
}

// FuzzMinwise begins with the texts of TestGolden, in each run of the tests.
func FuzzMinwise(f *testing.F) {
	for _, c := range texts {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range minwiseRecipes() {
			checkMinwise(t, r, text)
		}
	})
}

// TestCost checks that no text costs much more per byte than plain English, relative to the bounds for its tokens.
// U+FDFA becomes 33 bytes of 4 words. Long sequences of combining characters are cut.
func TestCost(t *testing.T) {
	f, err := New(Default())
	must.Do(t, err)
	fingerprint := func(text string) { f.Fingerprint(text) }
	const plain = "The quick brown fox jumps over the lazy dog and runs away from here. "
	must.BoundCost(t, 16, plain, []string{"a\u0301", "e\u0301 ", "\u0e33", "ก\u0e33", "\u1100\u1161", "😀", "🇩🇪", "👨\u200d👩", "\u200d",
		"\u00ad", "x\ufe0f", "𝔘", "ﬃ", "ｶﾞ", "丽", "a\u0301\u0302\u0323", "éa’", "\u3300", "½", "a½", "\U0001d15e", "a\xff", "\xff"}, fingerprint)
	must.BoundCost(t, 30, plain, []string{"\ufdfa", "\ufdfa "}, fingerprint)
	row := func(first, count rune, letter string) string { // no normal form has this order
		var b strings.Builder
		for i := range rune(5000) {
			if b.WriteRune(first + i*i%1009%count); i%4 == 3 {
				b.WriteString(letter)
			}
		}
		return b.String()
	}
	must.BoundCost(t, 10, plain, []string{"\u0301", "\u1161", row(0x300, 0x70, ""), row(0x1161, 21, ""), row(0x11a8, 27, "")}, fingerprint)
	must.BoundCost(t, 24, plain, []string{row(0x300, 0x70, "a"), row(0x300, 0x70, " "), row(0x1161, 21, "\u1100")}, fingerprint)
}
