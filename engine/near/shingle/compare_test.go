package shingle

import (
	"math/bits"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/must"
)

func compared(t *testing.T, a, b string) *Comparison {
	t.Helper()
	c, err := Compare(a, b, simhash.Default())
	must.Do(t, err)
	return c
}

func passages(s string, t Text) string {
	var all []string
	for _, p := range t.Passages {
		all = append(all, s[p.Start:p.End])
	}
	return strings.Join(all, "|")
}

// TestPassages checks the parts that only one text has, and the shared share, against counts by hand.
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
		// Words among characters are taken as theirs.
		{"版本 Go 1.26 发布了很多新的功能和改进", "版本 Go 1.27 发布了很多新的功能和改进", "1.26", "1.27", 11, 11.0 / 16},
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

// TestBits checks that the differing bits are those of the fingerprints. A text too short for a fingerprint has no
// distance.
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
	if _, err := Compare(a, a, r); err == nil {
		t.Error("a recipe that is not valid was taken")
	}
}
