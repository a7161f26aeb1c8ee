package permute

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"
)

func TestFlipsEnumerateBall(t *testing.T) {
	for leading := range 15 {
		for radius := -1; radius <= leading+1; radius++ {
			var want []uint64
			for weight := 0; weight <= radius; weight++ {
				for x := range uint64(1) << leading {
					if bits.OnesCount64(x) == weight {
						want = append(want, x<<(64-uint(leading)))
					}
				}
			}
			set := Flips(leading, radius)
			if got := slices.Collect(set.All()); !slices.Equal(got, want) || set.Len() != len(want) {
				t.Fatalf("Flips(%d, %d) = %x, want %x", leading, radius, got, want)
			}
			for upper := range leading + 1 {
				checkGroups(t, set, upper)
			}
			if got := Ball(leading, radius); got != len(want) {
				t.Fatalf("Ball(%d, %d) = %d, want %d", leading, radius, got, len(want))
			}
		}
	}
	if got := Flips(64, 3).Len(); got != 43745 { // 1 + 64 + 2016 + 41664
		t.Errorf("Flips(64, 3) has %d patterns, want 43745", got)
	}
	if got := slices.Collect(Flips(64, 1).All())[64]; got != 1<<63 {
		t.Errorf("the last single flip of 64 bits is %#x", got)
	}
}

// checkGroups compares the groups of a set with all its patterns. Each pattern is in one group, and the patterns of a
// group agree in their upper bits.
func checkGroups(t *testing.T, set FlipSet, upper int) {
	t.Helper()
	top := ^(^uint64(0) >> upper)
	var got []uint64
	for group := range set.Groups(upper) {
		for flip := range group.All() {
			if (flip^group.Base)&top != 0 {
				t.Fatalf("%+v, %d upper bits: %x is in the group of %x", set, upper, flip, group.Base)
			}
			got = append(got, flip)
		}
	}
	want := slices.Sorted(set.All())
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Fatalf("%+v, %d upper bits: groups have %x, want %x", set, upper, got, want)
	}
}

// TestFlipWalkIsLazy checks that a walk through many wide patterns ascends, has no pattern twice, has as many as the
// ball, and allocates nothing. The first pattern is the base.
func TestFlipWalkIsLazy(t *testing.T) {
	set := FlipSet{Base: 0xf0, Shift: 3, Width: 61, Radius: 4}
	count := 0
	allocated := testing.AllocsPerRun(1, func() {
		count = 0
		weight, before := 0, uint64(0)
		w := set.Walk()
		for base, low := w.Next(); low != nil; base, low = w.Next() {
			for _, flip := range low {
				x := (base ^ flip<<set.Shift ^ set.Base) >> set.Shift
				n := bits.OnesCount64(x)
				if n < weight || n == weight && x <= before && count > 0 {
					t.Fatalf("pattern %d, %x, comes after %x", count, x, before)
				}
				weight, before = n, x
				count++
			}
		}
	})
	if want := Ball(61, 4); count != want || set.Len() != want || allocated > 0 {
		t.Errorf("%d patterns, want %d; %v allocations", count, want, allocated)
	}
	w := Flips(64, 40).Walk() // 2^63 patterns: the first ones are available at once
	if base, low := w.Next(); base != 0 || len(low) != 65 || low[0] != 0 {
		t.Errorf("the walk begins with %x, %x", base, low)
	}
}

func TestBinomialAgainstBig(t *testing.T) {
	for n := range 65 {
		sum := new(big.Int)
		for k := range 66 {
			want := new(big.Int).Binomial(int64(n), int64(k))
			if got := Binomial(n, k); got != want.Uint64() {
				t.Fatalf("Binomial(%d, %d) = %d, want %v", n, k, got, want)
			}
			ball := math.MaxInt
			if sum.Add(sum, want).Cmp(big.NewInt(math.MaxInt)) < 0 {
				ball = int(sum.Int64())
			}
			if got := Ball(n, k); got != ball {
				t.Fatalf("Ball(%d, %d) = %d, want %d", n, k, got, ball)
			}
		}
	}
	if Binomial(5, -1) != 0 || Ball(5, -1) != 0 {
		t.Error("a negative radius has a ball")
	}
}
