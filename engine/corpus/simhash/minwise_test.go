package simhash

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ndd/engine/corpus/token"
)

// The twin below is written from the doc comment of type minwise, with big integers and maps.

var two64 = new(big.Int).Lsh(big.NewInt(1), 64)

func bigOf(x uint64) *big.Int { return new(big.Int).SetUint64(x) }

// low and high are the two halves of a 128-bit number.
func low(x *big.Int) *big.Int  { return new(big.Int).Mod(x, two64) }
func high(x *big.Int) *big.Int { return new(big.Int).Rsh(x, 64) }

func bigMum(a, b *big.Int) *big.Int {
	p := new(big.Int).Mul(a, b)
	return new(big.Int).Xor(high(p), low(p))
}

func xor(a, b *big.Int) *big.Int { return new(big.Int).Xor(a, b) }

// splitMix64 is the generator as published: the number after n steps from state 0.
func splitMix64(n *big.Int) *big.Int {
	z := low(new(big.Int).Mul(new(big.Int).Add(n, big.NewInt(1)), bigOf(0x9e3779b97f4a7c15)))
	z = low(new(big.Int).Mul(xor(z, new(big.Int).Rsh(z, 30)), bigOf(0xbf58476d1ce4e5b9)))
	z = low(new(big.Int).Mul(xor(z, new(big.Int).Rsh(z, 27)), bigOf(0x94d049bb133111eb)))
	return xor(z, new(big.Int).Rsh(z, 31))
}

// twinToken is the hash of a token.
func twinToken(key []byte, s string) *big.Int {
	var k [4]*big.Int
	for i := range k {
		k[i] = splitMix64(bigOf(binary.LittleEndian.Uint64(key[8*i:])))
	}
	h := new(big.Int)
	for rest := s; rest != ""; rest = rest[min(16, len(rest)):] {
		block := []byte(rest[:min(16, len(rest))] + strings.Repeat("\x00", 16))
		lo, hi := bigOf(binary.LittleEndian.Uint64(block)), bigOf(binary.LittleEndian.Uint64(block[8:]))
		h = bigMum(xor(xor(lo, h), k[0]), xor(hi, k[1]))
	}
	return bigMum(xor(h, k[2]), xor(big.NewInt(int64(len(s))), k[3]))
}

// twinFeatures is the set of features with their weights.
func twinFeatures(r Recipe, text string) map[string]int {
	key, _ := hex.DecodeString(r.Key)
	scanner, _ := token.NewScanner(token.Options{Chars: r.Tokeniser == TokeniserChars, StopWords: r.StopWords})
	features := map[string]int{}
	add := func(h *big.Int, weight int) {
		if weight > 0 {
			features[h.String()] = weight
		}
	}
	var last *big.Int
	lastKind := token.Word
	scanner.Scan(text, func(tokens []token.Token) {
		for i := range tokens {
			t := &tokens[i]
			if t.Stop {
				continue
			}
			h := twinToken(key, string(scanner.AppendText(nil, t)))
			add(h, map[token.Kind]int{token.Word: r.WordWeight, token.Char: r.CharWeight}[t.Kind])
			if last != nil {
				weight := r.CharPairWeight
				if lastKind == token.Word && t.Kind == token.Word {
					weight = r.WordPairWeight
				}
				add(bigMum(xor(last, bigOf(0x243f6a8885a308d3)), xor(h, bigOf(0x13198a2e03707344))), weight)
			}
			last, lastKind = h, t.Kind
		}
	})
	return features
}

// twinFingerprint is the fingerprint, or the second one, and the number of filled bins of the first.
func twinFingerprint(r Recipe, text string, second bool) (Fingerprint, int) {
	winners := map[int64]*big.Int{}
	for f, weight := range twinFeatures(r, text) {
		h, _ := new(big.Int).SetString(f, 10)
		if second {
			h = low(new(big.Int).Mul(xor(h, new(big.Int).Rsh(h, 32)), bigOf(0x9e3779b97f4a7c15)))
		}
		bin := new(big.Int).Rsh(h, 58).Int64()
		rank := new(big.Int).Mod(h, new(big.Int).Lsh(big.NewInt(1), 58))
		rank.Div(rank, big.NewInt(int64(weight)))
		if w := winners[bin]; w == nil || rank.Cmp(w) < 0 {
			winners[bin] = rank
		}
	}
	if !second && len(winners) < r.MinBins {
		return 0, len(winners)
	}
	var fp Fingerprint
	for j := range int64(64) {
		bin := j
		for t := int64(1); winners[bin] == nil; t++ {
			bin = new(big.Int).Rsh(splitMix64(big.NewInt(64*t+j)), 58).Int64()
		}
		odd := new(big.Int).SetBit(splitMix64(big.NewInt(j)), 0, 1)
		if low(new(big.Int).Mul(winners[bin], odd)).Bit(63) == 1 {
			fp |= 1 << j
		}
	}
	return fp, len(winners)
}

// minwiseRecipes are those with names and some of other settings.
func minwiseRecipes() []Recipe {
	a, b := Minwise(), MinwisePairs()
	a.Tokeniser, a.StopWords, a.WordWeight, a.CharWeight, a.CharPairWeight, a.MinBins = TokeniserChars, "en", 1, 16, 0, 1
	b.StopWords, b.Key, b.WordWeight, b.CharPairWeight, b.WordPairWeight = "en", key('0'), 2, 16, 8
	two := Minwise()
	two.Prints, b.Prints = 2, 2
	return []Recipe{Minwise(), MinwisePairs(), a, b, two}
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func checkMinwise(t fataler, r Recipe, text string) {
	t.Helper()
	f, err := New(r)
	if err != nil {
		t.Fatalf("%v", err)
	}
	got, filled, ok := f.Fingerprint(text)
	want, wantFilled := twinFingerprint(r, text, false)
	if got != want || filled != wantFilled || ok != (filled >= r.MinBins) {
		t.Fatalf("%v: %q: %v with %d bins, ok %v; by the definition %v with %d", r, text, got, filled, ok, want, wantFilled)
	}
	var second Fingerprint
	if r.Prints == 2 && ok {
		second, _ = twinFingerprint(r, text, true)
	}
	if f.Second() != second {
		t.Fatalf("%v: %q: second %v, by the definition %v", r, text, f.Second(), second)
	}
	features := map[string]int{}
	for _, feature := range f.AppendFeatures(nil, text) {
		features[fmt.Sprint(feature.Hash)] = int(feature.Weight)
	}
	if want := twinFeatures(r, text); fmt.Sprint(features) != fmt.Sprint(want) {
		t.Fatalf("%v: %q: features %v, by the definition %v", r, text, features, want)
	}
	if again, _, _ := f.Fingerprint(text); again != got {
		t.Fatalf("%v: %q: %v at first, then %v", r, text, got, again)
	}
}

// TestMinwiseAgainstTwin compares the sketch with an implementation of its definition that shares no code with it.
func TestMinwiseAgainstTwin(t *testing.T) {
	for _, r := range minwiseRecipes() {
		for _, c := range texts {
			checkMinwise(t, r, c.text)
		}
		checkMinwise(t, r, pseudoEnglish(3, 1500)+pseudoChinese(4, 1500))
		word := rapid.OneOf(rapid.SampledFrom([]string{"the", "lighthouse", "中", "文", "カ", "ß", "x1"}), rapid.StringMatching(`[a-z]{1,40}`))
		rapid.Check(t, func(t *rapid.T) {
			checkMinwise(t, r, strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "words"), " "))
		})
	}
}

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

// TestFlipRate: the bits of two texts that share J of their features differ with probability (1 - J)/2, within four
// standard deviations of 64 bits in each of 50 to 400 pairs, of many features and of few. The bits of one bin's borrowers are
// not independent, which the bound for texts of 40 words allows for.
func TestFlipRate(t *testing.T) {
	f := newFingerprinter(t, NameMinwise)
	rng := rand.New(rand.NewPCG(11, 12))
	for _, words := range []int{40, 400, 2000} {
		pairs := min(400, 100_000/words)
		for _, share := range []float64{1, 0.95, 0.9, 0.8, 0.5, 0.2, 0} {
			flips := 0
			both := int(share * float64(words))
			union := 2*words - both
			for range pairs {
				list := make([]string, union)
				for i := range list {
					list[i] = fmt.Sprintf("w%x", rng.Uint64())
				}
				a, _, _ := f.Fingerprint(strings.Join(list[:words], " "))
				b, _, _ := f.Fingerprint(strings.Join(list[words-both:], " "))
				flips += Distance(a, b)
			}
			p := (1 - float64(both)/float64(union)) / 2
			bits := float64(64 * pairs)
			bound := 4 * math.Sqrt(bits*p*(1-p))
			if words < 64 {
				bound *= 2
			}
			if math.Abs(float64(flips)-bits*p) > bound {
				t.Errorf("%d words, %.0f %% shared: %.4f of the bits differ, expected %.4f within %.4f", words, 100*share, float64(flips)/bits, p, bound/bits)
			}
		}
	}
}

// TestPrintsFlipApart: the bits of the first and of the second fingerprint of two texts flip with the same probability, and
// independently: the distances of 2,000 pairs of texts that share 0.8 of their features are not correlated.
func TestPrintsFlipApart(t *testing.T) {
	r := Minwise()
	r.Prints = 2
	f, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(17, 18))
	const pairs, words, both = 2000, 90, 80
	var sum, sumSquares [2]float64
	product := 0.0
	for range pairs {
		list := make([]string, 2*words-both)
		for i := range list {
			list[i] = fmt.Sprintf("w%x", rng.Uint64())
		}
		var prints [2][2]Fingerprint
		for i, text := range []string{strings.Join(list[:words], " "), strings.Join(list[words-both:], " ")} {
			prints[i][0], _, _ = f.Fingerprint(text)
			prints[i][1] = f.Second()
		}
		var d [2]float64
		for i := range d {
			d[i] = float64(Distance(prints[0][i], prints[1][i]))
			sum[i] += d[i]
			sumSquares[i] += d[i] * d[i]
		}
		product += d[0] * d[1]
	}
	var mean, deviation [2]float64
	for i := range mean {
		mean[i] = sum[i] / pairs
		deviation[i] = math.Sqrt(sumSquares[i]/pairs - mean[i]*mean[i])
		if math.Abs(mean[i]-6.4) > 0.4 {
			t.Errorf("fingerprint %d: mean distance %.2f, expected 6.4", i, mean[i])
		}
	}
	if c := (product/pairs - mean[0]*mean[1]) / (deviation[0] * deviation[1]); math.Abs(c) > 0.1 {
		t.Errorf("the two distances have a correlation of %.3f", c)
	}
}

// TestWeightsOfMinwise: a feature of weight w counts as w features. Of texts that differ in their words only, and share
// their characters, the share of words in all weight is what flips.
func TestWeightsOfMinwise(t *testing.T) {
	r := Minwise()
	r.CharPairWeight = 0
	rng := rand.New(rand.NewPCG(13, 14))
	var chars strings.Builder
	const words, shared, pairs = 600, 3000, 20
	for i := range shared {
		chars.WriteRune(rune(0x4e00 + i))
	}
	for _, weight := range []int{1, 4, 16} {
		r.WordWeight = weight
		f, err := New(r)
		if err != nil {
			t.Fatal(err)
		}
		flips := 0
		for range pairs {
			var fps [2]Fingerprint
			for i := range fps {
				text := chars.String()
				for range words {
					text += fmt.Sprintf(" w%x", rng.Uint64())
				}
				fps[i], _, _ = f.Fingerprint(text)
			}
			flips += Distance(fps[0], fps[1])
		}
		p := (1 - float64(shared)/float64(shared+2*words*weight)) / 2
		if got := float64(flips) / (64 * pairs); math.Abs(got-p) > 0.02 {
			t.Errorf("words of weight %d: %.4f of the bits differ, expected %.4f", weight, got, p)
		}
	}
}
