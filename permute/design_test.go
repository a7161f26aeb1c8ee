package permute

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// everyDesign calls f with each design of the catalogue, and with further designs that the paper's names give, for
// every k.
func everyDesign(t *testing.T, seed uint64, f func(t *testing.T, d Design)) {
	t.Helper()
	for k := 0; k <= MaxK; k++ {
		list := Catalogue(k, seed)
		for _, name := range []string{
			"one", "halves", "thirds", "quarters", "paper-4", "paper-10", "paper-16", "paper-20",
			fmt.Sprintf("choose-%d-2", k+2),
		} {
			if slices.ContainsFunc(list, func(d Design) bool { return d.Name == name }) {
				continue
			}
			if d, err := ByName(name, k, seed); err == nil {
				list = append(list, d)
			}
		}
		for _, d := range list {
			f(t, d)
		}
	}
}

// someBits returns n different bits.
func someBits(random *rand.Rand, n int) (set uint64) {
	for bits.OnesCount64(set) < n {
		set |= 1 << random.IntN(64)
	}
	return set
}

func TestFirstFinder(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 64))
	everyDesign(t, 12345, func(t *testing.T, d Design) {
		for range 2000 {
			diff := someBits(random, random.IntN(d.K+1))
			first := d.First(diff)
			if first < 0 || first >= len(d.Tables) {
				t.Fatalf("%s, k = %d: First(%#x) = %d", d.Name, d.K, diff, first)
			}
			for i, table := range d.Tables[:first+1] {
				finds := bits.OnesCount64(diff&table.Mask) <= table.Radius
				if finds != (i == first) {
					t.Fatalf("%s, k = %d: First(%#x) = %d, but table %d finds: %v", d.Name, d.K, diff, first, i, finds)
				}
			}
		}
	})
	d := Design{Tables: []Table{{Mask: 0xff}, {Mask: 0xff00, Radius: 1}}}
	if got := d.First(0x301); got != -1 {
		t.Errorf("First of a difference that both tables miss is %d, want -1", got)
	}
}

// TestProbesFindEveryDifference does what an index does with a design: permute, flip, compare the leading bits. It must
// find every difference of at most k bits, with more and fewer bucket bits than leading bits.
func TestProbesFindEveryDifference(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 64))
	everyDesign(t, 99, func(t *testing.T, d Design) {
		for _, bucketBits := range []int{5, 12, 40} {
			if probesOf(&d, bucketBits) > 20000 {
				continue // one at 40 bits: the smaller ones make the point
			}
			probes := 0
			found := make([]map[uint64]bool, len(d.Tables)) // per table: the flips of its top bits
			for i, table := range d.Tables {
				flips := Flips(min(table.Leading(), bucketBits), table.Radius)
				probes += flips.Len()
				found[i] = make(map[uint64]bool, flips.Len())
				for f := range flips.All() {
					found[i][f] = true
				}
			}
			if got := probesOf(&d, bucketBits); got != probes {
				t.Fatalf("%s, k = %d: Probes(%d) = %d, but there are %d", d.Name, d.K, bucketBits, got, probes)
			}
			for range 200 {
				x, diff := random.Uint64(), someBits(random, d.K)
				hit := false
				for i, table := range d.Tables {
					p := New(table.Mask)
					top := ^uint64(0) << (64 - uint(min(table.Leading(), bucketBits)))
					hit = hit || found[i][(p.Apply(x)^p.Apply(x^diff))&top]
				}
				if !hit {
					t.Fatalf("%s, k = %d, %d bucket bits: no probe for %#x finds the difference %#x", d.Name, d.K, bucketBits, x, diff)
				}
			}
		}
	})
}

// probesOf returns the number of runs of buckets that one query reads, if every table has a bucket for each value of
// the top bucketBits bits.
func probesOf(d *Design, bucketBits int) (sum int) {
	for _, t := range d.Tables {
		sum += Ball(min(t.Leading(), bucketBits), t.Radius)
	}
	return sum
}

// bucketsOf returns the number of buckets that all probes of one query read. It equals the number of probes if every
// table has at least bucketBits leading bits. A probe with fewer leading bits reads several buckets.
func bucketsOf(d *Design, bucketBits int) (sum float64) {
	for _, t := range d.Tables {
		sum += math.Ldexp(share(min(t.Leading(), bucketBits), t.Radius), bucketBits)
	}
	return sum
}
