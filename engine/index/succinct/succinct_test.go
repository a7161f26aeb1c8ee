package succinct

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestPacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for width := 0; width <= 64; width++ {
		for _, n := range []uint64{0, 1, 63, 64, 65, 500} {
			p := NewPacked(n, width)
			want := make([]uint64, n)
			for _, i := range rng.Perm(int(n)) {
				want[i] = rng.Uint64() & (1<<width - 1)
				p.Set(uint64(i), want[i])
			}
			for i, v := range want {
				if got := p.At(uint64(i)); got != v {
					t.Fatalf("width %d, integer %d of %d: %#x, want %#x", width, i, n, got, v)
				}
			}
		}
	}
	if WordsFor(1<<63, 64) < 1<<58 || WordsFor(3, 33) != 2 || WidthFor(0) != 0 || WidthFor(256) != 9 {
		t.Fatal("sizes")
	}
}

// TestBounded writes integers below limits of every kind, in every base that is near the best and
// some that are not, in parts, and reads them: the same as are packed.
func TestBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, limit := range []uint64{1, 2, 3, 100, 4097, 70_000, 100_000_000, 1<<32 + 1, 1<<48 - 1} {
		for _, base := range []uint64{1, 2, 3, 4, 5, 7, 10, 16, 37, 256, 1000, baseMost, 0} {
			code, ok := NewCode(limit, base)
			if base == 0 {
				code, ok = CodeFor(limit), true
			}
			if !ok {
				if base > 0 && limit > base {
					t.Fatalf("no code of base %d below %d", base, limit)
				}
				continue
			}
			for _, n := range []int{0, 1, 39, 40, 41, 2000} {
				want := make([]uint64, n)
				for i := range want {
					if want[i] = rng.Uint64N(limit); i%3 == 0 {
						want[i] = limit - 1 // so that whole blocks have the largest digits
					}
				}
				testBounded(t, fmt.Sprintf("%d integers below %d, base %d", n, limit, code.Base()), code, want)
			}
			all := make([]uint64, 200)
			for i := range all {
				all[i] = limit - 1
			}
			testBounded(t, fmt.Sprintf("the largest below %d, base %d", limit, code.Base()), code, all)
		}
	}
}

func testBounded(t *testing.T, what string, code Code, want []uint64) {
	t.Helper()
	w := NewBoundedWriter(code)
	for rest := want; len(rest) > 0; {
		part := rest[:min(len(rest), 1+len(rest)/3)]
		AppendBounded(w, part)
		rest = rest[len(part):]
	}
	w.Finish()
	if uint64(len(w.Words)) != code.WordsFor(uint64(len(want))) {
		t.Fatalf("%s: %d words, want %d", what, len(w.Words), code.WordsFor(uint64(len(want))))
	}
	x := Bounded{w.Words, code}
	for i, v := range want {
		if got := x.At(uint64(i)); got != v {
			t.Fatalf("%s: integer %d is %d, want %d", what, i, got, v)
		}
	}
	x.Prefetch([]uint64{0, 1 << 40, ^uint64(0)}) // of what is not there, too
}

// TestCodeFor holds the sizes that the choice of a base comes to against log2 of the limit, and
// asks for the packed form where digits gain nothing.
func TestCodeFor(t *testing.T) {
	for _, c := range []struct {
		limit, base uint64
		bits        float64 // of an integer, at most
	}{
		{0, 1, 0}, {1, 1, 0}, {5, 1, 3}, {1<<16 - 1, 1, 16}, {40_000, 1, 16}, {1 << 20, 1, 20}, {1<<20 + 1, 129, 20.12},
		{10_000_000, 39, 23.34}, {20_000_000, 39, 24.34}, {100_000_000, 3, 26.6}, {1_000_000_000, 1, 30},
	} {
		code := CodeFor(c.limit)
		const n = 1 << 20
		if size := float64(64*code.WordsFor(n)) / n; code.Base() != c.base || size > c.bits+0.001 {
			t.Errorf("below %d: base %d, %.3f bits; want %d, %.3f", c.limit, code.Base(), size, c.base, c.bits)
		}
	}
	if _, ok := NewCode(100, baseMost+1); ok {
		t.Error("any base")
	}
	if code := CodeFor(100_000_000); code.WordsFor(1<<63) < 1<<58 {
		t.Error("sizes")
	}
}

func TestOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, one := range []float64{0, 0.001, 0.1, 0.5, 0.99, 1} {
		t.Run(fmt.Sprint(one), func(t *testing.T) {
			words := make([]uint64, 1000)
			var at []uint64
			for i := range uint64(len(words)) * 64 {
				if rng.Float64() < one {
					words[i/64] |= 1 << (i % 64)
					at = append(at, i)
				}
			}
			o := NewOnes(words)
			for j, want := range at {
				if got, ok := o.Select(uint64(j)); !ok || got != want {
					t.Fatalf("one %d: at %d, want %d", j, got, want)
				}
				next := uint64(len(words)) * 64
				if j+1 < len(at) {
					next = at[j+1]
				}
				if got := o.Next(want); got != next {
					t.Fatalf("after one %d: %d, want %d", j, got, next)
				}
			}
			for _, past := range []uint64{uint64(len(at)), uint64(len(at)) + 1, 1 << 40} {
				if _, ok := o.Select(past); ok {
					t.Fatalf("one %d of %d", past, len(at))
				}
			}
		})
	}
}

// TestHostileSamples has samples that do not belong to the words.
func TestHostileSamples(t *testing.T) {
	for _, o := range []Ones{
		{Words: []uint64{1}, Samples: []uint64{1 << 60}},
		{Words: []uint64{1}, Samples: []uint64{63}},
		{Words: nil, Samples: []uint64{0}},
	} {
		if _, ok := o.Select(5); ok {
			t.Errorf("%v", o)
		}
	}
}
