package asm

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// find64 is Within64 by brute force, without a limit on the hits.
func find64(xs []uint64, q uint64, k int) []uint32 {
	var found []uint32
	for i, x := range xs {
		if bits.OnesCount64(x^q) <= k {
			found = append(found, uint32(i))
		}
	}
	return found
}

// all64 calls Within64 with dst until it has seen all of xs.
func all64(t testing.TB, dst []uint32, xs []uint64, q uint64, k int) []uint32 {
	var found []uint32
	for base := 0; ; {
		n, scanned := Within64(dst, xs[base:], q, k)
		for _, i := range dst[:n] {
			found = append(found, uint32(base)+i)
		}
		base += scanned
		if base == len(xs) {
			return found
		}
		if n != len(dst) {
			t.Fatalf("stopped at element %d of %d with %d of %d hits written", base, len(xs), n, len(dst))
		}
		if bits.OnesCount64(xs[base]^q) > k {
			t.Fatalf("stopped at element %d, which is no hit", base)
		}
		if len(dst) == 0 {
			t.Fatalf("no room and no progress")
		}
	}
}

// near64 gives n words, some of them 0 to 5 bits from q, some 60 to 64, the others
// random.
func near64(r *rand.Rand, n int, q uint64) []uint64 {
	xs := make([]uint64, n)
	for i := range xs {
		switch x := r.Uint64(); x % 16 {
		case 0:
			xs[i] = q ^ flips64(r, r.IntN(6))
		case 1:
			xs[i] = ^q ^ flips64(r, r.IntN(5))
		default:
			xs[i] = x
		}
	}
	return xs
}

// flips64 is a word of n ones.
func flips64(r *rand.Rand, n int) uint64 {
	var w uint64
	for bits.OnesCount64(w) < n {
		w |= 1 << r.IntN(64)
	}
	return w
}

// patterns64 lists the words of at most three ones: 43,745 of them.
func patterns64() []uint64 {
	words := []uint64{0}
	for a := range 64 {
		words = append(words, 1<<a)
		for b := range a {
			words = append(words, 1<<a|1<<b)
			for c := range b {
				words = append(words, 1<<a|1<<b|1<<c)
			}
		}
	}
	return words
}

func TestWithin64Patterns(t *testing.T) {
	words := patterns64()
	if len(words) != 43745 {
		t.Fatalf("%d patterns, want 43745", len(words))
	}
	eachKernel(t, func(t *testing.T) {
		dst := make([]uint32, len(words))
		for _, q := range []uint64{0, ^uint64(0), 0x9e3779b97f4a7c15} {
			xs := make([]uint64, len(words))
			for i, w := range words {
				xs[i] = q ^ w
			}
			for k := -1; k <= 4; k++ {
				n, scanned := Within64(dst, xs, q, k)
				if scanned != len(xs) || !slices.Equal(dst[:n], find64(xs, q, k)) {
					t.Fatalf("q=%#x k=%d: %d hits in %d elements, want %d", q, k, n, scanned, len(find64(xs, q, k)))
				}
			}
		}
	})
}

func TestWithin64EveryLength(t *testing.T) {
	const longest = 4096
	r := rand.New(rand.NewPCG(1, 64))
	q := r.Uint64()
	region := guard.New(t, (longest+64)*8)
	words := near64(r, longest+64, q)
	out := guard.New(t, longest*4)
	eachKernel(t, func(t *testing.T) {
		for n := range longest + 1 {
			views := [][]uint64{
				guard.Head[uint64](region, n),
				guard.Tail[uint64](region, n),
				guard.Tail[uint64](region, n+1+n*7%63)[:n],
			}
			for v, xs := range views {
				k := (n + v) % 5
				region.Unseal()
				copy(xs, words)
				region.Seal()
				want := find64(xs, q, k)
				// Exactly as much room as there are hits, up to the fence.
				dst := guard.Tail[uint32](out, len(want))
				got, scanned := Within64(dst, xs, q, k)
				if scanned != n || !slices.Equal(dst[:got], want) {
					t.Fatalf("view %d, n=%d, k=%d: %d hits in %d elements, want %d", v, n, k, got, scanned, len(want))
				}
			}
		}
	})
}

// One hit and no other, at every place of slices of every length up to several
// blocks: among many hits the kernels look at everything twice, here they may not.
func TestWithin64EveryPlace(t *testing.T) {
	const longest = 300
	const q = 0x9e3779b97f4a7c15
	xs := guard.Tail[uint64](guard.New(t, longest*8), longest)
	for i := range xs {
		xs[i] = ^uint64(q)
	}
	eachKernel(t, func(t *testing.T) {
		dst := make([]uint32, 2)
		for n := 1; n <= longest; n++ {
			part := xs[longest-n:]
			for at := range part {
				part[at] = q ^ 1<<(at%64)
				if hits, scanned := Within64(dst, part, q, 1+at%8); hits != 1 || scanned != n || dst[0] != uint32(at) {
					t.Fatalf("n=%d: %d hits in %d elements, %d, want one, %d", n, hits, scanned, dst[0], at)
				}
				if hits, scanned := Within64(dst, part[:at], q, 3); hits != 0 || scanned != at {
					t.Fatalf("n=%d: hit at %d found before it", n, at)
				}
				part[at] = ^uint64(q)
			}
		}
	})
}

func TestWithin64Thresholds(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 64))
	q := r.Uint64()
	xs := make([]uint64, 0, 65*20+7)
	for len(xs) < cap(xs) {
		xs = append(xs, q^flips64(r, len(xs)%65))
	}
	eachKernel(t, func(t *testing.T) {
		dst := make([]uint32, len(xs))
		for _, k := range append(make65(), -1, -100, 65, 1000) {
			n, scanned := Within64(dst, xs, q, k)
			if scanned != len(xs) || !slices.Equal(dst[:n], find64(xs, q, k)) {
				t.Fatalf("k=%d: %d hits in %d elements, want %d", k, n, scanned, len(find64(xs, q, k)))
			}
		}
	})
}

// make65 counts from 0 to 64.
func make65() []int {
	ks := make([]int, 65)
	for k := range ks {
		ks[k] = k
	}
	return ks
}

// The same answers come whatever the room, and no hit is written past it.
func TestWithin64Room(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 64))
	q := r.Uint64()
	xs := near64(r, 3*within64Call/2, q)
	few := append(slices.Repeat([]uint64{q}, 300), xs[:700]...)
	out := guard.New(t, 4096)
	eachKernel(t, func(t *testing.T) {
		for room := 1; room <= 140; room++ {
			dst := guard.Tail[uint32](out, room)
			for _, k := range []int{0, 3, 31, 64} {
				if got, want := all64(t, dst, few, q, k), find64(few, q, k); !slices.Equal(got, want) {
					t.Fatalf("room %d, k=%d: %d hits, want %d", room, k, len(got), len(want))
				}
			}
		}
		for _, room := range []int{1000, 1024} {
			dst := guard.Tail[uint32](out, room)
			if got, want := all64(t, dst, xs, q, 32), find64(xs, q, 32); !slices.Equal(got, want) {
				t.Fatalf("room %d: %d hits, want %d", room, len(got), len(want))
			}
		}
		if n, scanned := Within64(nil, few, q, 3); n != 0 || scanned != 0 {
			t.Fatalf("without room: %d hits in %d elements, want 0 in 0", n, scanned)
		}
		if n, scanned := Within64(nil, xs[:1000], ^xs[0], -1); n != 0 || scanned != 1000 {
			t.Fatalf("without room or hits: %d hits in %d elements, want 0 in 1000", n, scanned)
		}
	})
}

// Random pairs, a million of them for each query: 10^9 in the long form.
func TestWithin64Random(t *testing.T) {
	pairs := 20_000_000
	if *long {
		pairs = 1_000_000_000
	} else if testing.Short() {
		pairs = 2_000_000
	}
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 64))
		xs := make([]uint64, 1<<20)
		for i := range xs {
			xs[i] = r.Uint64()
		}
		dst, want := make([]uint32, len(xs)), make([]uint32, len(xs))
		for done := 0; done < pairs; done += len(xs) {
			q, k := r.Uint64(), r.IntN(40)
			n, scanned := Within64(dst, xs, q, k)
			m, _ := within64Generic(want, xs, 0, q, k)
			if scanned != len(xs) || !slices.Equal(dst[:n], want[:m]) {
				t.Fatalf("q=%#x k=%d: %d hits in %d elements, want %d", q, k, n, scanned, m)
			}
		}
	})
}

func FuzzWithin64(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), uint64(0x3736353433323130), 3, uint8(1))
	f.Add(make([]byte, 8*200), uint64(7), 3, uint8(50))
	f.Fuzz(func(t *testing.T, data []byte, q uint64, k int, room uint8) {
		xs := make([]uint64, len(data)/8)
		for i := range xs {
			xs[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		want := find64(xs, q, k)
		head, tail := guard.Copies(t, xs)
		dst := guard.Tail[uint32](guard.New(t, 256*4), int(room)+1)
		eachFuzzKernel(t, func(kernel string) {
			for _, xs := range [][]uint64{head, tail} {
				if got := all64(t, dst, xs, q, k); !slices.Equal(got, want) {
					t.Fatalf("%s: q=%#x k=%d room=%d: got %d, want %d", kernel, q, k, room, got, want)
				}
			}
		})
	})
}
