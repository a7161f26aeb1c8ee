package distribution

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	prints := make([]uint64, 10_001)
	var ones [64]uint64
	var weights [65]uint64
	var leading [Intervals]uint64
	for i := range prints {
		prints[i] = rng.Uint64() & rng.Uint64()
		for b := range 64 {
			ones[b] += prints[i] >> b & 1
		}
		weights[bits.OnesCount64(prints[i])]++
		leading[prints[i]>>57]++
	}
	var c, d Counts
	c.Add(prints[:77])
	c.Add(nil)
	d.Add(prints[77:])
	c.Merge(&d)
	if c.Fingerprints != 10_001 || c.Ones != ones || c.Weights != weights || c.Leading != leading {
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
	rng := rand.New(rand.NewPCG(1, 2))
	even := make([]uint64, 100_000)
	for i := range even {
		even[i] = rng.Uint64()
	}
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

// TestBound holds the formula against the binomial of a smaller world, where
// it can be counted, scaled: log2(2^w choose n)/n - (w - 64).
func TestBound(t *testing.T) {
	for _, n := range []int64{1, 2, 100, 1000} {
		exact := new(big.Int).Binomial(1<<40, n)
		want := float64(exact.BitLen()-1)/float64(n) + 24
		if got := Bound(uint64(n)); math.Abs(got-want) > 1.0/float64(n)+0.1 {
			t.Errorf("n = %d: %v, want %v", n, got, want)
		}
	}
	if got := Bound(1e8); math.Abs(got-(64-math.Log2(1e8)+1.4427)) > 1e-4 {
		t.Errorf("%v", got)
	}
	if Bound(0) != 0 {
		t.Error("nothing needs bits")
	}
}
