package asm

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
	"example.org/ndd/engine/oracle/long"
)

// A width is one of the kernels within32 and within64.
type width[T uint32 | uint64] struct {
	bits   int
	within func(dst []uint32, xs []T, q T, k int) (n, scanned int)
	call   int // elements that one call into assembly takes
}

var (
	width32 = width[uint32]{32, Within32, withinCall}
	width64 = width[uint64]{64, Within64, withinCall}
)

// find is within by brute force, without a limit on the hits.
func (width[T]) find(xs []T, q T, k int) []uint32 {
	var found []uint32
	for i, x := range xs {
		if bits.OnesCount64(uint64(x^q)) <= k {
			found = append(found, uint32(i))
		}
	}
	return found
}

// check checks that within returns the hits that brute force found. dst must be large enough for all of them.
func (w width[T]) check(t *testing.T, dst []uint32, xs []T, q T, k int, want []uint32) {
	t.Helper()
	if n, scanned := w.within(dst, xs, q, k); scanned != len(xs) || !slices.Equal(dst[:n], want) {
		t.Fatalf("q=%#x k=%d: %d hits in %d of %d elements, want %d", q, k, n, scanned, len(xs), len(want))
	}
}

// all calls within with dst until it has scanned all of xs.
func (w width[T]) all(t testing.TB, dst []uint32, xs []T, q T, k int) []uint32 {
	var found []uint32
	for base := 0; ; {
		n, scanned := w.within(dst, xs[base:], q, k)
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
		if bits.OnesCount64(uint64(xs[base]^q)) > k {
			t.Fatalf("stopped at element %d, which is no hit", base)
		}
		if len(dst) == 0 {
			t.Fatalf("no room and no progress")
		}
	}
}

// near returns n words. Some differ from q in 0 to 5 bits, some in all but 0 to 4 bits, and the others are random.
func (w width[T]) near(r *rand.Rand, n int, q T) []T {
	xs := make([]T, n)
	for i := range xs {
		switch x := r.Uint64(); x % 16 {
		case 0:
			xs[i] = q ^ w.flips(r, r.IntN(6))
		case 1:
			xs[i] = ^q ^ w.flips(r, r.IntN(5))
		default:
			xs[i] = T(x)
		}
	}
	return xs
}

// flips is a word of n ones.
func (w width[T]) flips(r *rand.Rand, n int) (word T) {
	for bits.OnesCount64(uint64(word)) < n {
		word |= 1 << r.IntN(w.bits)
	}
	return word
}

func flips32(r *rand.Rand, n int) uint32 { return width32.flips(r, n) }
func flips64(r *rand.Rand, n int) uint64 { return width64.flips(r, n) }

// patterns lists the words of at most three ones: 43,745 of 64 bits, 5,489 of 32.
func (w width[T]) patterns() []T {
	words := []T{0}
	for a := range w.bits {
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

// hash is a word of no pattern.
func (width[T]) hash() T {
	var word uint64 = 0x9e3779b97f4a7c15
	return T(word)
}

func TestWithin(t *testing.T) {
	t.Run("bits=32", width32.test)
	t.Run("bits=64", width64.test)
}

func (w width[T]) test(t *testing.T) {
	t.Run("Patterns", w.testPatterns)
	t.Run("EveryLength", w.testEveryLength)
	t.Run("EveryPlace", w.testEveryPlace)
	t.Run("Thresholds", w.testThresholds)
	t.Run("Room", w.testRoom)
	t.Run("Random", w.testRandom)
}

func (w width[T]) testPatterns(t *testing.T) {
	words := w.patterns()
	if want := map[int]int{32: 5489, 64: 43745}[w.bits]; len(words) != want {
		t.Fatalf("%d patterns, want %d", len(words), want)
	}
	eachKernel(t, func(t *testing.T) {
		dst := make([]uint32, len(words))
		for _, q := range []T{0, ^T(0), w.hash()} {
			xs := make([]T, len(words))
			for i, word := range words {
				xs[i] = q ^ word
			}
			for k := -1; k <= 4; k++ {
				w.check(t, dst, xs, q, k, w.find(xs, q, k))
			}
		}
	})
}

// views are n elements at the head of memory, at its tail, and near its tail at a position that depends on n.
func views[T any](r *guard.Region, n, step int) [][]T {
	return [][]T{guard.Head[T](r, n), guard.Tail[T](r, n), guard.Tail[T](r, n+1+n*step%63)[:n]}
}

func (w width[T]) testEveryLength(t *testing.T) {
	const longest = 4096
	r := rand.New(rand.NewPCG(1, 64))
	q := T(r.Uint64())
	region := guard.New(t, (longest+64)*w.bits/8)
	words := w.near(r, longest+64, q)
	out := guard.New(t, longest*4)
	eachKernel(t, func(t *testing.T) {
		for n := range longest + 1 {
			for v, xs := range views[T](region, n, 7) {
				k := (n + v) % 5
				region.Unseal()
				copy(xs, words)
				region.Seal()
				want := w.find(xs, q, k)
				// Give exactly as much memory as there are hits, up to the guard page.
				w.check(t, guard.Tail[uint32](out, len(want)), xs, q, k, want)
			}
		}
	})
}

// testEveryPlace checks that the only hit is found at every position of slices of every length up to several blocks.
// The kernels examine a block twice only if it has many hits; here they must find the hit in the first pass.
func (w width[T]) testEveryPlace(t *testing.T) {
	const longest = 300
	q := w.hash()
	xs := guard.Tail[T](guard.New(t, longest*w.bits/8), longest)
	for i := range xs {
		xs[i] = ^q
	}
	eachKernel(t, func(t *testing.T) {
		dst := make([]uint32, 2)
		for n := 1; n <= longest; n++ {
			part := xs[longest-n:]
			for pos := range part {
				part[pos] = q ^ 1<<(pos%w.bits)
				if hits, scanned := w.within(dst, part, q, 1+pos%8); hits != 1 || scanned != n || dst[0] != uint32(pos) {
					t.Fatalf("n=%d: %d hits in %d elements, %d, want one, %d", n, hits, scanned, dst[0], pos)
				}
				if hits, scanned := w.within(dst, part[:pos], q, 3); hits != 0 || scanned != pos {
					t.Fatalf("n=%d: hit at %d found before it", n, pos)
				}
				part[pos] = ^q
			}
		}
	})
}

func (w width[T]) testThresholds(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 64))
	q := T(r.Uint64())
	xs := make([]T, 0, (w.bits+1)*20+7)
	for len(xs) < cap(xs) {
		xs = append(xs, q^w.flips(r, len(xs)%(w.bits+1)))
	}
	eachKernel(t, func(t *testing.T) {
		dst := make([]uint32, len(xs))
		ks := []int{-100, 1000}
		for k := range 67 {
			ks = append(ks, k-1)
		}
		for _, k := range ks {
			w.check(t, dst, xs, q, k, w.find(xs, q, k))
		}
	})
}

// testRoom checks that the answers do not depend on the size of the buffer, and no hit is written after its end.
func (w width[T]) testRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 64))
	q := T(r.Uint64())
	xs := w.near(r, 3*w.call/2, q)
	few := append(slices.Repeat([]T{q}, 300), xs[:700]...)
	out := guard.New(t, 4096)
	eachKernel(t, func(t *testing.T) {
		for room := 1; room <= 140; room++ {
			dst := guard.Tail[uint32](out, room)
			for _, k := range []int{0, 3, 31, 64} {
				if got, want := w.all(t, dst, few, q, k), w.find(few, q, k); !slices.Equal(got, want) {
					t.Fatalf("room %d, k=%d: %d hits, want %d", room, k, len(got), len(want))
				}
			}
		}
		for _, room := range []int{1000, 1024} {
			dst := guard.Tail[uint32](out, room)
			if got, want := w.all(t, dst, xs, q, 32), w.find(xs, q, 32); !slices.Equal(got, want) {
				t.Fatalf("room %d: %d hits, want %d", room, len(got), len(want))
			}
		}
		if n, scanned := w.within(nil, few, q, 3); n != 0 || scanned != 0 {
			t.Fatalf("without room: %d hits in %d elements, want 0 in 0", n, scanned)
		}
		if n, scanned := w.within(nil, xs[:1000], ^xs[0], -1); n != 0 || scanned != 1000 {
			t.Fatalf("without room or hits: %d hits in %d elements, want 0 in 1000", n, scanned)
		}
	})
}

// testRandom compares a million random pairs for each query; 10^9 in the long form.
func (w width[T]) testRandom(t *testing.T) {
	pairs := long.Or(1_000_000, 1_000_000_000)
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 64))
		xs := make([]T, 1<<20)
		for i := range xs {
			xs[i] = T(r.Uint64())
		}
		dst := make([]uint32, len(xs))
		for done := 0; done < pairs; done += len(xs) {
			q, k := T(r.Uint64()), r.IntN(40)
			w.check(t, dst, xs, q, k, w.find(xs, q, k))
		}
	})
}

func FuzzWithin(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), uint64(0x3736353433323130), 3, uint8(1))
	f.Add(make([]byte, 8*200), uint64(7), 3, uint8(50))
	f.Fuzz(func(t *testing.T, data []byte, q uint64, k int, room uint8) {
		words, halves := make([]uint64, len(data)/8), make([]uint32, len(data)/4)
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		for i := range halves {
			halves[i] = binary.LittleEndian.Uint32(data[4*i:])
		}
		width64.fuzz(t, words, q, k, int(room)+1)
		width32.fuzz(t, halves, uint32(q), k, int(room)+1)
	})
}

func (w width[T]) fuzz(t *testing.T, xs []T, q T, k, room int) {
	want := w.find(xs, q, k)
	head, tail := guard.Copies(t, xs)
	dst := guard.Tail[uint32](guard.New(t, 256*4), room)
	eachFuzzKernel(t, func(kernel string) {
		for _, xs := range [][]T{head, tail} {
			if got := w.all(t, dst, xs, q, k); !slices.Equal(got, want) {
				t.Fatalf("%s, %d bits: q=%#x k=%d room=%d: got %d, want %d", kernel, w.bits, q, k, room, got, want)
			}
		}
	})
}
