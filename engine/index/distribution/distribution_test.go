package distribution

import (
	"math"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/sets"
)

func TestCounts(t *testing.T) {
	fingerprints, others := sets.Uniform(10_001, 1), sets.Uniform(10_001, 2)
	var ones [64]uint64
	var leading [Intervals]uint64
	for i := range fingerprints {
		fingerprints[i] &= others[i]
		for b := range 64 {
			ones[b] += fingerprints[i] >> b & 1
		}
		leading[fingerprints[i]>>57]++
	}
	var c Counts
	c.Add(fingerprints[:77])
	c.Add(nil)
	c.Add(fingerprints[77:])
	if c.Fingerprints != 10_001 || c.Ones != ones || c.Leading != leading {
		t.Fatal("counts differ")
	}
	if f := c.Fraction(5); f != float64(ones[5])/10_001 {
		t.Errorf("fraction %v", f)
	}
	if s := c.Share(0); math.Abs(s-17) > 2 { // (3/4)^7 * 128
		t.Errorf("share %v", s)
	}
}

func TestWords(t *testing.T) {
	even := sets.Uniform(100_000, 1)
	same := make([]uint64, 1000)
	for name, c := range map[string]struct {
		prints []uint64
		want   string
	}{
		"uniform": {even, "not distinguishable from uniform"},
		"equal":   {same, "skewed"},
		"none":    {nil, "no fingerprints"},
		"half":    {append(append([]uint64{}, even[:1000]...), same...), "skewed"},
	} {
		var d Counts
		d.Add(c.prints)
		if got := strings.Join(d.Words(), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestBound compares the formula with log2 of 2^64 choose n, computed by the sum of its factors. Stirling's formula
// leaves out log2(e) / 12 n bits in total, so n times less for each factor.
func TestBound(t *testing.T) {
	for _, n := range []int{1, 2, 10, 1000, 200_000} {
		exact := 0.0
		for i := range n {
			exact += math.Log2((0x1p64 - float64(i)) / float64(i+1))
		}
		each := float64(n)
		if over := Bound(uint64(n)) - exact/each; over < -1e-9 || over > 0.13/(each*each)+1e-9 {
			t.Errorf("%d fingerprints: %.7f bits each, %.7f too many", n, Bound(uint64(n)), over)
		}
	}
	if got := Bound(1 << 33); math.Abs(got-32.4427) > 1e-3 {
		t.Errorf("2^33 fingerprints: %v bits each", got)
	}
	if Bound(0) != 0 {
		t.Error("nothing needs bits")
	}
}

// TestLeadingOnes checks that counts equal a comparison bit by bit, random fingerprints have the distribution of
// section 4.2, and the figures have a point for each value.
func TestLeadingOnes(t *testing.T) {
	if got := LeadingOnes([]uint64{0, 0, 1, 3, 4, 1 << 63}); got != [64]uint64{0: 1, 1: 1, 2: 1, 63: 1} {
		t.Errorf("%v", got)
	}
	fingerprints := sets.Uniform(1<<16, 1)
	slices.Sort(fingerprints)
	leading := LeadingOnes(fingerprints)
	// A node of the binary trie at depth d has both children with probability (1 - exp(-n/2^(d+1)))^2.
	for bit, want := range map[int]float64{50: 0.120, 49: 0.187, 48: 0.200, 47: 0.155, 46: 0.098} {
		if got := float64(leading[bit]) / (1 << 16); math.Abs(got-want) > 0.01 {
			t.Errorf("bit %d: %.3f, want %.2f", bit, got, want)
		}
	}
	var c Counts
	c.Add(fingerprints)
	figures := Figures("uniform", &c, leading)
	for i, points := range []int{64, Intervals} {
		var b strings.Builder
		if _, err := figures[FigureNames[i]].WriteTo(&b); err != nil || strings.Count(b.String(), "L") != points-1 ||
			strings.Contains(b.String(), "NaN") {
			t.Errorf("%s: %v\n%s", FigureNames[i], err, b.String())
		}
	}
}
