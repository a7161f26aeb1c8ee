package succinct

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestArray(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for width := 0; width <= 64; width++ {
		for _, n := range []uint64{0, 1, 63, 64, 65, 500} {
			p := NewArray(n, width)
			want := make([]uint64, n)
			for _, i := range rng.Perm(int(n)) {
				want[i] = rng.Uint64() & (1<<width - 1)
				p.Set(uint64(i), want[i])
			}
			w := NewArrayWriter(width)
			for tail := want; len(tail) > 0; { // in parts
				part := tail[:min(len(tail), 1+len(tail)/3)]
				AppendArray(w, part)
				tail = tail[len(part):]
			}
			if w.Finish(); !slices.Equal(w.Words, p.Words) {
				t.Fatalf("width %d, %d integers: other words in order", width, n)
			}
			p.Prefetch([]uint64{0, 1 << 40, ^uint64(0)}) // positions after the end are allowed
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

func TestOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, one := range []float64{0, 0.001, 0.1, 0.5, 0.99, 1} {
		t.Run(fmt.Sprint(one), func(t *testing.T) {
			words := make([]uint64, 1000)
			var pos []uint64
			for i := range uint64(len(words)) * 64 {
				if rng.Float64() < one {
					words[i/64] |= 1 << (i % 64)
					pos = append(pos, i)
				}
			}
			o := NewOnes(words)
			for j, want := range pos {
				if got, ok := o.Select(uint64(j)); !ok || got != want {
					t.Fatalf("one %d: at %d, want %d", j, got, want)
				}
				next := uint64(len(words)) * 64
				if j+1 < len(pos) {
					next = pos[j+1]
				}
				if got := o.Next(want); got != next {
					t.Fatalf("after one %d: %d, want %d", j, got, next)
				}
			}
			for _, past := range []uint64{uint64(len(pos)), uint64(len(pos)) + 1, 1 << 40} {
				if _, ok := o.Select(past); ok {
					t.Fatalf("one %d of %d", past, len(pos))
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
