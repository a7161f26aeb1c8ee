package permute

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"
)

func TestFlipsAreTheBall(t *testing.T) {
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
			if got := Flips(leading, radius); !slices.Equal(got, want) {
				t.Fatalf("Flips(%d, %d) = %x, want %x", leading, radius, got, want)
			}
			if got := Ball(leading, radius); got != len(want) {
				t.Fatalf("Ball(%d, %d) = %d, want %d", leading, radius, got, len(want))
			}
		}
	}
	if got := len(Flips(64, 3)); got != 43745 { // 1 + 64 + 2016 + 41664
		t.Errorf("Flips(64, 3) has %d patterns, want 43745", got)
	}
	if got := Flips(64, 1)[64]; got != 1<<63 {
		t.Errorf("the last single flip of 64 bits is %#x", got)
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
