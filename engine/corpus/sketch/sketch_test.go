package sketch

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/oracle/must"
)

var testKey = token.NewKey([32]byte{1, 2, 3})

var testScanner, testSketcher = sync.OnceValues(func() (*token.Scanner, error) { return token.NewScanner(token.Options{}) }), New(testKey)

func newScanner(t testing.TB) *token.Scanner {
	t.Helper()
	s, err := testScanner()
	must.Do(t, err)
	return s
}

// sketchOf returns the sketch of a text.
func sketchOf(t testing.TB, text string) Sketch {
	t.Helper()
	scanner, s := newScanner(t), testSketcher
	s.Begin()
	var hashes []uint64
	scanner.Scan(text, func(tokens []token.Token) {
		hashes = hashes[:0]
		for i := range tokens {
			hashes = append(hashes, testKey.Hash(scanner, &tokens[i]))
		}
		s.Take(scanner, tokens, hashes)
	})
	return s.Sketch()
}

// shingles returns the set of a text's shingles by the definition of the package comment, unit by unit.
func shingles(t testing.TB, text string) []uint64 {
	t.Helper()
	scanner := newScanner(t)
	type unit struct {
		kind token.Kind
		hash uint64
	}
	var units []unit
	since := 8
	scanner.Scan(text, func(tokens []token.Token) {
		for i := range tokens {
			word := string(scanner.AppendText(nil, &tokens[i]))
			switch {
			case tokens[i].Kind == token.Char:
				since = 0
				units = append(units, unit{token.Char, testKey.Sum([]byte(word))})
			case since < 8:
				since++
				for _, r := range word {
					units = append(units, unit{token.Char, testKey.Sum([]byte(string(r)))})
				}
			default:
				units = append(units, unit{token.Word, testKey.Sum([]byte(word))})
			}
		}
	})
	var set []uint64
	for len(units) > 0 {
		n := 1
		for n < len(units) && units[n].kind == units[0].kind {
			n++
		}
		run := units[:n]
		units = units[n:]
		width := 3
		if run[0].kind == token.Char {
			width = 5
		}
		width = min(width, n)
		for i := range n - width + 1 {
			h := uint64(0)
			for _, u := range run[i : i+width] {
				h = bits.RotateLeft64(h, 11) ^ u.hash
			}
			set = append(set, token.Fold(h, 0))
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// slowly returns the sketch of a set by the definition of the package comment.
func slowly(set []uint64) (s Sketch) {
	if len(set) <= setMax {
		copy(s[:], set)
		s[Words-1] = uint64(len(set))
		return s
	}
	winner := map[int]uint32{}
	for _, h := range set {
		bin := int(h >> 55)
		winner[bin] = max(winner[bin], uint32(h)|1)
	}
	bit := func(w uint32, t int) uint64 { // b(t)
		b := []uint64{}
		for i := range t + 1 {
			if i < 7 {
				b = append(b, uint64(w>>(i+1)&1))
			} else {
				b = append(b, b[i-7]^b[i-6])
			}
		}
		return b[t]
	}
	for j := range Bins {
		t, from := 0, j
		for ; winner[from] == 0; t++ {
			o := int(orders[t])
			from = 64*((j/64)^(o/64)) + (j%64-o+512)%64
		}
		s[j/64] |= bit(winner[from], t) << (j % 64)
	}
	s[Words-1] |= minHash
	return s
}

// TestDefinition checks that texts of all kinds have the sketch of the definition. Earlier texts of the Sketcher make
// no difference.
func TestDefinition(t *testing.T) {
	words := strings.Fields("the a mill 3.14 river averyveryverylongword naïve 中 文 字 水 木 ก า か 。 x y z")
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 2, 3, 8, 40, 400}).Draw(r, "most")
		parts := rapid.SliceOfN(rapid.SampledFrom(words), 0, n).Draw(r, "words")
		text := strings.Repeat(strings.Join(parts, " ")+" ", rapid.SampledFrom([]int{1, 2, 30}).Draw(r, "times"))
		if got, want := sketchOf(t, text), slowly(shingles(t, text)); got != want {
			r.Fatalf("%q: %x, want %x", text, got, want)
		}
	})
}

// TestBins checks that for any set of bins with a shingle, the min-hash equals the one of the definition.
func TestBins(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 7))
	for _, filled := range []uint64{1, 2, 9, 150, 400, Bins} {
		var set []uint64
		for range max(8, 4*filled) {
			set = append(set, random.Uint64N(filled)*171%Bins<<(64-binBits)|random.Uint64()>>binBits)
		}
		var b bins
		for _, h := range set {
			b.add(h)
		}
		if got, want := b.minHash(), slowly(set); got != want {
			t.Errorf("%d bins: %x, want %x", filled, got, want)
		}
	}
}

// TestGolden checks that sketches never change.
func TestGolden(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "[0 0 0 0 0 0 0 0]",
		"The quick brown fox": "[c7da38bdb5bf155b f2e9774ec6cdf4e6 0 0 0 0 0 2]",
		"敏捷的棕色狐狸跳过了懒狗。":              "[e3079056a1a15502 f9226c338f06b988 fc408ff86982a7bd 78d6c7016c32e4f8 e5f679ced0d9c84c 406a6fc9a87e225f d053d4b20755e68f 82f28d0bbc7ef830]",
		"名称是 Thunderbolt 的产品 and so": "[a1086199d7522f83 bd6eb19a13b469f8 f55fbd16d490b53a f226c8dd41e95fb a9b530e95488c5e8 5ffbab688300df8c ecab5ea1571da07e a82061dfc3b7132c]",
	} {
		s := sketchOf(t, text)
		if got := fmt.Sprintf("%x", s[:]); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestFew checks that texts of few shingles are compared exactly, and with longer ones by min-hash; forged sketches
// give 0 to 1.
func TestFew(t *testing.T) {
	for _, c := range []struct {
		a, b      string
		jaccard   float64
		deviation float64
	}{
		{"", "", 1, 0},
		{"", "some words of a text", 0, 0},
		{"a b c d e", "b c d e f", 0.5, 0},
		{"a b c d e f g h i", "a b c d e f g h i", 1, 0},
		{"a b c d e f g h i", "a b c d e f g h", 6.0 / 7, 0},
		{"a b c d e f g h i", "a b c d e f g h i j", 0.875, 0.04},
		{"", "a b c d e f g h i j", 0, 0},
	} {
		x, y := sketchOf(t, c.a), sketchOf(t, c.b)
		j, deviation := Estimate(&x, &y)
		back, _ := Estimate(&y, &x)
		if math.Abs(j-c.jaccard) > 2*c.deviation+1e-9 || (deviation > 0) != (c.deviation > 0) || back != j {
			t.Errorf("%q, %q: %.3f ± %.3f", c.a, c.b, j, deviation)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		draw := func() (s Sketch) {
			for i := range s {
				s[i] = rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 9)).Draw(r, "word")
			}
			return s
		}
		x, y := draw(), draw()
		if j, deviation := Estimate(&x, &y); !(j >= 0 && j <= 1) || !(deviation >= 0 && deviation <= 1) {
			r.Fatalf("%x, %x: %g ± %g", x, y, j, deviation)
		}
	})
}

// TestScripts checks that labels of different goods in mixed scripts are as unlike as their characters are, and one
// changed word in a long text is a small change.
func TestScripts(t *testing.T) {
	const label = "本产品的名称是%s，生产地址是%s，使用前请仔细阅读说明书，如有疑问请联系客服人员。"
	names := []string{"Thunderbolt Professional Workstation", "Greenfield Industrial Estate Manchester", "Marble Kitchen Utensil Collection",
		"Riverside Manufacturing Park Birmingham"}
	a := sketchOf(t, fmt.Sprintf(label, names[0], names[1]))
	b := sketchOf(t, fmt.Sprintf(label, names[2], names[3]))
	if j, _ := Estimate(&a, &b); j > 0.5 {
		t.Errorf("different goods: %.3f", j)
	}
	listing := strings.Repeat("list one two three of the words in it ", 3)
	if x, y := shingles(t, "目录 "+listing), shingles(t, listing); exact(x, y) == 0 {
		t.Error("a listing after a heading of characters has no shingle of words")
	}
}

// pair returns two texts of n words that have about a share of their shingles in common.
func pair(random *rand.Rand, n int, jaccard float64, word func() string, separator string, width int) (string, string) {
	a := make([]string, n)
	for i := range a {
		a[i] = word()
	}
	b := slices.Clone(a)
	rate := 1 - math.Pow(2*jaccard/(1+jaccard), 1/float64(width))
	for i := range b {
		if random.Float64() < rate {
			b[i] = word()
		}
	}
	return strings.Join(a, separator), strings.Join(b, separator)
}

// TestEstimates checks that the estimates of invented pairs deviate from the similarity of exact sets as the standard
// error says.
func TestEstimates(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	latin := func() string { return fmt.Sprintf("w%x", random.Uint32N(1<<18)) }
	han := func() string { return string(rune(0x4e00 + random.IntN(4000))) }
	for name, c := range map[string]struct {
		word      func() string
		separator string
		width, n  int
	}{
		"words": {latin, " ", 3, 300}, "characters": {han, "", 5, 300}, "a short text": {latin, " ", 3, 60},
		"a message": {latin, " ", 3, 25},
	} {
		sum, square, n := 0.0, 0.0, 0
		for n < 400 {
			a, b := pair(random, c.n, 0.6+0.2*random.Float64(), c.word, c.separator, c.width)
			j := exact(shingles(t, a), shingles(t, b))
			if j < 0.6 || j > 0.8 {
				continue
			}
			x, y := sketchOf(t, a), sketchOf(t, b)
			e, _ := Estimate(&x, &y)
			sum, square, n = sum+e-j, square+(e-j)*(e-j), n+1
		}
		mean, deviation := sum/float64(n), math.Sqrt(square/float64(n))
		if math.Abs(mean) > 0.006 || deviation > 0.034 {
			t.Errorf("%s: mean error %.4f, deviation %.4f", name, mean, deviation)
		}
	}
}
