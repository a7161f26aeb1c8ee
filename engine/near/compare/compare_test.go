package compare

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

func compared(t *testing.T, a, b string) *Comparison {
	t.Helper()
	c, err := Texts(a, b, simhash.Default())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func passages(s string, t Text) string {
	var all []string
	for _, p := range t.Passages {
		all = append(all, s[p.Start:p.End])
	}
	return strings.Join(all, "|")
}

// TestPassages: what a text has alone, and how much is shared, counted by hand.
func TestPassages(t *testing.T) {
	for _, x := range []struct {
		a, b, onlyA, onlyB string
		shared             int
		aInB               float64
	}{
		{"one two three four five six", "one two three four five six", "", "", 4, 1},
		{"One, two three four. Five six seven", "one two three 4 five six seven", "four", "4", 2, 2.0 / 5},
		{"a b c d e f g h", "a b c d e f g h and more words here", "", "and more words here", 6, 1},
		{"x a b c d y", "a b c d", "x|y", "", 2, 0.5},
		{"完全不同的一句话", "完全不同的另一句话", "一句话", "另一句话", 1, 0.25}, // 5 characters a shingle
		{"", "a b c", "", "a b c", 0, 0},
		{"three words only", "nothing of that", "three words only", "nothing of that", 0, 0},
	} {
		c := compared(t, x.a, x.b)
		if got := passages(x.a, c.A); got != x.onlyA {
			t.Errorf("%q alone has %q, want %q", x.a, got, x.onlyA)
		}
		if got := passages(x.b, c.B); got != x.onlyB {
			t.Errorf("%q alone has %q, want %q", x.b, got, x.onlyB)
		}
		if c.Shared != x.shared || c.AInB != x.aInB {
			t.Errorf("%q, %q: %d shared, %g in b; want %d, %g", x.a, x.b, c.Shared, c.AInB, x.shared, x.aInB)
		}
		back := compared(t, x.b, x.a)
		if back.Jaccard != c.Jaccard || back.AInB != c.BInA || back.Distance != c.Distance {
			t.Errorf("%q, %q: turned round %+v, else %+v", x.a, x.b, back, c)
		}
	}
}

// TestBits: the differing bits are those of the fingerprints, and a text too short for one has no distance.
func TestBits(t *testing.T) {
	a := "A fence around the orchard keeps the goats of the neighbours away from young apple trees"
	c := compared(t, a, strings.Replace(a, "apple", "pear", 1))
	x := uint64(c.A.Fingerprint ^ c.B.Fingerprint)
	for i, bit := range c.Bits {
		if x>>bit&1 == 0 || i > 0 && bit >= c.Bits[i-1] {
			t.Errorf("bits %v of %016x", c.Bits, x)
		}
	}
	if c.Distance != len(c.Bits) || c.Distance != bits.OnesCount64(x) || c.Distance == 0 {
		t.Errorf("distance %d, bits %v", c.Distance, c.Bits)
	}
	if c := compared(t, a, "short"); c.Distance != -1 || c.B.OK || !c.A.OK {
		t.Errorf("%+v", c)
	}
	r := simhash.Default()
	r.WordShingle = 99
	if _, err := Texts(a, a, r); err == nil {
		t.Error("a recipe that is not valid was taken")
	}
}

// TestMixedScripts: passages are made of the shingles of package shingle, also where scripts change, so that what no shared
// shingle covers is in a passage, and all is shared by equal texts only.
func TestMixedScripts(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for range 300 {
		var texts [2]string
		for i := range texts {
			for range rng.IntN(40) {
				texts[i] += []string{"a ", "b ", "1 ", "中", "文", "字"}[rng.IntN(6)]
			}
		}
		c := compared(t, texts[0], texts[1])
		gramsOf := func(text string) map[string]bool {
			all, err := tokens(text)
			if err != nil {
				t.Fatal(err)
			}
			return set(grams(all))
		}
		a, b := gramsOf(texts[0]), gramsOf(texts[1])
		both := 0
		for g := range a {
			if b[g] {
				both++
			}
		}
		if both != c.Shared || len(a) != c.A.Shingles || len(b) != c.B.Shingles {
			t.Fatalf("%q, %q: %d, %d shingles, %d shared; the sets have %d, %d, %d", texts[0], texts[1], len(a), len(b), both, c.A.Shingles, c.B.Shingles, c.Shared)
		}
	}
	c := compared(t, "版本 Go 1.26 发布了很多新的功能和改进", "版本 Go 1.27 发布了很多新的功能和改进")
	if got := passages("版本 Go 1.26 发布了很多新的功能和改进", c.A); got != "版本 Go 1.26" {
		t.Errorf("only in the first: %q", got)
	}
}

// TestTwoPrints: the distance is that of the nearer fingerprints, and texts that share nothing are expected to differ in half of all bits.
func TestTwoPrints(t *testing.T) {
	r := simhash.Minwise()
	r.Prints = 2
	rng := rand.New(rand.NewPCG(3, 4))
	seen := [2]int{}
	for range 100 {
		var a, b []string
		for range 40 {
			word := fmt.Sprint("word", rng.IntN(1000))
			if a = append(a, word); rng.IntN(4) == 0 {
				word = fmt.Sprint("other", rng.IntN(1000))
			}
			b = append(b, word)
		}
		c, err := Texts(strings.Join(a, " "), strings.Join(b, " "), r)
		if err != nil {
			t.Fatal(err)
		}
		first, second := simhash.Distance(c.A.Fingerprint, c.B.Fingerprint), simhash.Distance(c.A.Second, c.B.Second)
		if c.Distance != min(first, second) || c.Distance != len(c.Bits) || (c.Nearer == 1) != (second < first) {
			t.Fatalf("%d and %d: %+v", first, second, c)
		}
		seen[c.Nearer]++
		if c.Expected <= 0 || c.Expected >= 32 || c.Features.OnlyA == 0 || c.Features.Both == 0 {
			t.Fatalf("%+v", c.Features)
		}
	}
	if seen[0] == 0 || seen[1] == 0 {
		t.Error(seen)
	}
	c := compared(t, "one two three four five six seven eight nine ten", "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen")
	if c.Expected != 32 || c.Features.Both != 0 || c.Features.Jaccard != 0 {
		t.Errorf("%+v expected %g", c.Features, c.Expected)
	}
}
