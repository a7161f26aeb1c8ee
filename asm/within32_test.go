package asm

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// find32 is Within32Runs by brute force, without a limit on the hits.
func find32(low []uint32, runs []Run) []Hit32 {
	var hits []Hit32
	for i, run := range runs {
		for pos := run.Start; pos < run.Start+uint64(run.Len); pos++ {
			if d := uint32(bits.OnesCount32(low[pos] ^ run.Query)); d <= run.Limit {
				hits = append(hits, Hit32{Pos: pos, Run: uint32(i), Distance: d})
			}
		}
	}
	return hits
}

// resume32 calls scan with dst until it has done all of n runs.
func resume32(t testing.TB, dst []Hit32, n int, scan func(dst []Hit32, from int) (hits, done int)) []Hit32 {
	var all []Hit32
	for base := 0; ; {
		hits, done := scan(dst, base)
		for _, h := range dst[:hits] {
			h.Run += uint32(base)
			all = append(all, h)
		}
		base += done
		if base == n {
			return all
		}
		if hits != len(dst) || hits == 0 {
			t.Fatalf("stopped at run %d of %d with %d of %d hits written", base, n, hits, len(dst))
		}
	}
}

// all32 checks that Within32Runs finds what brute force does, whatever the room.
func all32(t testing.TB, dst []Hit32, low []uint32, runs []Run) {
	t.Helper()
	want := find32(low, runs)
	left := slices.Clone(runs)
	got := resume32(t, dst, len(runs), func(dst []Hit32, from int) (int, int) {
		return Within32Runs(dst, low, left[from:])
	})
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %d runs, room %d: got %d hits, want %d; first difference %v", Kernel(), len(runs), len(dst),
			len(got), len(want), firstDifference(got, want))
	}
	if len(runs) == 0 || slices.ContainsFunc(runs, func(r Run) bool { return r.Query != runs[0].Query }) {
		return
	}
	spans := make([]Span, len(runs))
	for i, run := range runs {
		spans[i] = run.Span
	}
	got = resume32(t, dst, len(spans), func(dst []Hit32, from int) (int, int) {
		return Within32(dst, low, runs[0].Query, spans[from:])
	})
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %d spans, room %d: got %d hits, want %d; first difference %v", Kernel(), len(runs), len(dst),
			len(got), len(want), firstDifference(got, want))
	}
}

func firstDifference(got, want []Hit32) [2]Hit32 {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return [2]Hit32{got[i], want[i]}
		}
	}
	return [2]Hit32{}
}

// near32 gives n words, some of them 0 to 5 bits from q, some 28 to 32, the others
// random.
func near32(r *rand.Rand, n int, q uint32) []uint32 {
	low := make([]uint32, n)
	for i := range low {
		switch x := r.Uint32(); x % 16 {
		case 0:
			low[i] = q ^ flips32(r, r.IntN(6))
		case 1:
			low[i] = ^q ^ flips32(r, r.IntN(5))
		default:
			low[i] = x
		}
	}
	return low
}

// flips32 is a word of n ones.
func flips32(r *rand.Rand, n int) uint32 {
	var w uint32
	for bits.OnesCount32(w) < n {
		w |= 1 << r.IntN(32)
	}
	return w
}

func TestWithin32Patterns(t *testing.T) {
	var words []uint32
	for _, w := range patterns64() {
		if w>>32 == 0 {
			words = append(words, uint32(w))
		}
	}
	if len(words) != 5489 {
		t.Fatalf("%d patterns, want 5489", len(words))
	}
	eachKernel(t, func(t *testing.T) {
		dst := make([]Hit32, len(words))
		for _, q := range []uint32{0, ^uint32(0), 0x7f4a7c15} {
			low := make([]uint32, len(words))
			for i, w := range words {
				low[i] = q ^ w
			}
			for limit := range uint32(5) {
				all32(t, dst, low, []Run{{Span: Span{0, uint32(len(low)), limit}, Query: q}})
				// The same in runs of every length up to 70.
				var runs []Run
				for from, n := 0, 0; from < len(low); from, n = from+n, (n+1)%71 {
					runs = append(runs, Run{Span: Span{uint64(from), uint32(min(n, len(low)-from)), limit}, Query: q})
				}
				all32(t, dst, low, runs)
			}
		}
	})
}

// Runs of every length, alone and among others, flush with both fences.
func TestWithin32EveryLength(t *testing.T) {
	const longest = 4096
	r := rand.New(rand.NewPCG(1, 32))
	q := r.Uint32()
	region := guard.New(t, (longest+64)*4)
	size := longest + 64
	copy(guard.Tail[uint32](region, size), near32(r, size, q))
	region.Seal()
	out := guard.New(t, longest*16)
	eachKernel(t, func(t *testing.T) {
		for n := range longest + 1 {
			low := guard.Tail[uint32](region, size)
			if n%2 == 1 {
				low = guard.Head[uint32](region, size)
			}
			limit := uint32(n % 5)
			at := uint64(n * 7 % 61)
			runs := []Run{
				{Span: Span{0, uint32(n), limit}, Query: q},
				{Span: Span{uint64(size - n), uint32(n), limit}, Query: q},
				{Span: Span{at, uint32(n), limit + 1}, Query: q},
				{Span: Span{uint64(size), 0, limit}, Query: q},
			}
			for i := range runs {
				hits := find32(low, runs[i:i+1])
				all32(t, guard.Tail[Hit32](out, max(1, len(hits))), low, runs[i:i+1])
			}
			if n%16 == 0 {
				all32(t, guard.Tail[Hit32](out, 50), low, runs)
			}
			// A slice that ends at the fence with the run, whatever its alignment.
			cut := guard.Tail[uint32](region, n)
			all32(t, guard.Tail[Hit32](out, 100), cut, []Run{{Span: Span{0, uint32(n), 3}, Query: q}})
			cut = guard.Head[uint32](region, n)
			all32(t, guard.Tail[Hit32](out, 100), cut, []Run{{Span: Span{0, uint32(n), 3}, Query: q}})
		}
	})
}

// One hit and no other, at every place of runs of every length up to several
// blocks: among many hits the kernels look at everything twice, here they may not.
func TestWithin32EveryPlace(t *testing.T) {
	const longest = 200
	const q = 0x7f4a7c15
	low := guard.Tail[uint32](guard.New(t, longest*4), longest)
	for i := range low {
		low[i] = ^uint32(q)
	}
	eachKernel(t, func(t *testing.T) {
		dst := make([]Hit32, 2)
		for n := 1; n <= longest; n++ {
			for at := range n {
				start := longest - n
				low[start+at] = q ^ 1<<(at%32)
				want := Hit32{Pos: uint64(start + at), Run: 0, Distance: 1}
				hits, done := Within32(dst, low, q, []Span{{uint64(start), uint32(n), uint32(1 + at%8)}})
				if hits != 1 || done != 1 || dst[0] != want {
					t.Fatalf("n=%d: %d hits, %v, want one, %v", n, hits, dst[0], want)
				}
				// The run that ends before it and the one that begins after it do not
				// have it.
				hits, done = Within32(dst, low, q, []Span{
					{uint64(start), uint32(at), 3}, {uint64(start + at + 1), uint32(n - at - 1), 3},
				})
				if hits != 0 || done != 2 {
					t.Fatalf("n=%d: hit at %d found outside its run", n, at)
				}
				low[start+at] = ^uint32(q)
			}
		}
	})
}

func TestWithin32Limits(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 32))
	q := r.Uint32()
	low := make([]uint32, 33*20+5)
	for i := range low {
		low[i] = q ^ flips32(r, i%33)
	}
	eachKernel(t, func(t *testing.T) {
		dst := make([]Hit32, 700)
		for _, limit := range []uint32{33, 64, 100, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1} {
			all32(t, dst, low, []Run{{Span: Span{3, uint32(len(low) - 3), limit}, Query: q}})
			all32(t, dst, low, []Run{{Span: Span{3, 17, limit}, Query: q}, {Span: Span{5, 0, limit}, Query: q}})
		}
		for limit := range uint32(33) {
			all32(t, dst, low, []Run{{Span: Span{0, uint32(len(low)), limit}, Query: q}})
			for n := range uint32(40) {
				all32(t, dst, low, []Run{{Span: Span{uint64(n) * 3, n, limit}, Query: q}})
			}
		}
	})
}

// Lists as the table makes them, short runs with now and then a long one, with a
// query each; room for one hit, for many, for all.
func TestWithin32Lists(t *testing.T) {
	lists := 300
	if testing.Short() {
		lists = 30
	}
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 32))
		q := r.Uint32()
		low := near32(r, 200_000, q)
		dst := make([]Hit32, 200_000)
		for list := range lists {
			runs := make([]Run, r.IntN(3*within32Runs))
			for i := range runs {
				n := r.IntN(40)
				switch r.IntN(50) {
				case 0:
					n = r.IntN(3 * within32Long)
				case 1:
					n = r.IntN(3 * 64)
				}
				if list%40 == 0 && i%100 == 7 {
					n = within32Call + r.IntN(2*within32Call)
				}
				start := r.IntN(len(low) - n + 1)
				runs[i] = Run{Span: Span{uint64(start), uint32(n), uint32(r.IntN(4))}, Query: q, Tag: r.Uint32()}
				if list%2 == 1 {
					runs[i].Query ^= flips32(r, r.IntN(3))
				}
			}
			for _, room := range []int{1, 2, 7, 64, len(dst)} {
				all32(t, dst[:room], low, runs)
			}
		}
	})
}

// A run that is all hits, longer than a call, with little room.
func TestWithin32Dense(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		low := make([]uint32, 2*within32Call+100)
		runs := []Run{{Span: Span{1, 5, 0}}, {Span: Span{9, uint32(len(low) - 9), 0}}, {Span: Span{2, 3, 0}}}
		for _, room := range []int{100, 1 << 12, len(low) + 20} {
			all32(t, make([]Hit32, room), low, runs)
		}
		if hits, done := Within32Runs(nil, low, runs); hits != 0 || done != 0 {
			t.Errorf("without room: %d hits, %d runs done, want none", hits, done)
		}
		if hits, done := Within32(nil, low, 1<<31, []Span{{0, 50, 0}, {3, 90, 0}}); hits != 0 || done != 2 {
			t.Errorf("without room or hits: %d hits, %d runs done, want 0, 2", hits, done)
		}
	})
}

func TestWithin32Outside(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		low := make([]uint32, 100)
		for _, span := range []Span{
			{100, 1, 3}, {99, 2, 3}, {101, 0, 3}, {0, 101, 3}, {0, 1<<32 - 1, 3}, {1 << 62, 4, 3}, {1<<64 - 1, 1, 3},
			{1<<64 - 1, 2, 3}, {1<<64 - 10, 20, 3}, {50, 1000, 3}, {1 << 63, 0, 3},
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("span %v of 100 elements did not panic", span)
					}
				}()
				Within32(make([]Hit32, 4), low, 1<<31, []Span{{0, 4, 0}, span})
			}()
		}
	})
}

// Random pairs: 10^9 in the long form.
func TestWithin32Random(t *testing.T) {
	pairs := 20_000_000
	if *long {
		pairs = 1_000_000_000
	} else if testing.Short() {
		pairs = 2_000_000
	}
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 32))
		low := make([]uint32, 1<<20)
		for i := range low {
			low[i] = r.Uint32()
		}
		dst, runs := make([]Hit32, len(low)), make([]Run, 0, len(low))
		for done := 0; done < pairs; done += len(low) {
			runs = runs[:0]
			for from := 0; from < len(low); {
				n := min(r.IntN(64), len(low)-from)
				if done%8 == 0 {
					n = min(r.IntN(4096), len(low)-from)
				}
				runs = append(runs, Run{Span: Span{uint64(from), uint32(n), uint32(r.IntN(14))}, Query: r.Uint32()})
				from += n
			}
			all32(t, dst, low, runs)
		}
	})
}

func FuzzWithin32(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), []byte{0, 7, 3, 1, 6, 2}, uint32(0x33323130), uint8(1))
	f.Add(make([]byte, 4*700), []byte{0, 16, 3, 9, 32, 0, 100, 255, 1}, uint32(7), uint8(50))
	f.Fuzz(func(t *testing.T, data, list []byte, q uint32, room uint8) {
		low := make([]uint32, len(data)/4)
		for i := range low {
			low[i] = binary.LittleEndian.Uint32(data[4*i:])
		}
		head, tail := guard.Copies(t, low)
		var runs []Run
		for ; len(list) >= 3; list = list[3:] {
			start := int(list[0]) * 5 % (len(low) + 1)
			n := min(int(list[1])*int(1+list[2]>>6), len(low)-start)
			runs = append(runs, Run{Span: Span{uint64(start), uint32(n), uint32(list[2] & 63)}, Query: q + uint32(list[2]&32)})
		}
		dst := guard.Tail[Hit32](guard.New(t, 256*16), int(room)+1)
		eachFuzzKernel(t, func(string) {
			all32(t, dst, head, runs)
			all32(t, dst, tail, runs)
		})
	})
}

// Prefetching changes nothing and faults nowhere, also with wrong runs and indexes.
func TestPrefetch(t *testing.T) {
	region := guard.New(t, 4096)
	low := guard.Tail[uint32](region, 1000)
	spans := []Span{{0, 0, 0}, {0, 1000, 0}, {999, 1, 0}, {5, 33, 3}, {1 << 40, 1 << 31, 0}, {1<<64 - 1, 1<<32 - 1, 0}}
	runs := make([]Run, len(spans))
	for i, s := range spans {
		runs[i].Span = s
	}
	before := slices.Clone(low)
	Prefetch32(low, spans)
	Prefetch32(nil, nil)
	Prefetch32Runs(low, runs)
	PrefetchAt(low, []uint64{0, 1, 999, 1000, 1 << 50})
	PrefetchAt([]struct{ a, b, c uint64 }{{}}, []uint64{0, 5})
	if !slices.Equal(before, low) {
		t.Error("prefetching changed memory")
	}
}
