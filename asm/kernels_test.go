package asm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/guard"
	"example.org/ndd/engine/oracle/must"
)

func TestSelfTest(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		must.Do(t, selfTest())
		if testing.CoverMode() != "" || raceEnabled {
			return
		}
		best := time.Duration(1 << 62)
		for range 20 {
			start := time.Now()
			must.Do(t, selfTest())
			best = min(best, time.Since(start))
		}
		t.Logf("self-test: %v", best)
		if best > 5*time.Millisecond {
			t.Errorf("self-test takes %v: it belongs at the start of every process", best)
		}
	})
}

// TestPanics calls kernels with arguments that no correct caller passes.
func TestPanics(t *testing.T) {
	one, three := make([]uint64, 1), make([]uint64, 3)
	rows, words := make([]uint32, 100), make([]uint64, 24)
	calls := map[string]func(){
		"votes, fewer weights":          func() { WeightedVotes(new([64]uint64), three, rows[:2]) },
		"decode, no keys":               func() { Decode(nil, make([]byte, 64), 0, new(Window)) },
		"decode, too many keys":         func() { Decode(make([]uint64, 1<<16), make([]byte, 64), 0, new(Window)) },
		"decode, short half":            func() { Decode(one, make([]byte, 31), 0, new(Window)) },
		"filter, a bitmap of three":     func() { Filter(one, one, three) },
		"filter, a bitmap of 64 bits":   func() { Filter(one, one, one) },
		"filter, a short dst":           func() { Filter(one, three, make([]uint64, 2)) },
		"differ, a row behind the last": func() { Differ(rows[:1], words[:16], words[:24], []uint32{1}) },
		"differ, a short query":         func() { Differ(rows[:1], words[:7], words[:24], []uint32{0}) },
		"differ, no query":              func() { Differ(rows[:1], nil, words[:24], []uint32{0}) },
		"differ, few results":           func() { Differ(nil, words[:8], words[:24], []uint32{0}) },
		"halves, too few words": func() {
			p := newHalves(1, HalvesRoomMin, 40)
			p.Words = p.Words[1:]
			ScatterHalves(p, nil, 0)
		},
		"halves, too little room": func() { ScatterHalves(newHalves(1, 1000, 40), nil, 0) },
		"halves, half a half":     func() { ScatterHalves(newHalves(1, HalvesRoomMin, 31), nil, 0) },
		"halves, a row too large": func() { ScatterHalves(newHalves(1, HalvesRoomMin, 40), three, 1<<24-1) },
	}
	for i, spoil := range []func(b *JoinBuckets){
		func(b *JoinBuckets) { b.First = b.First[:4] },               // three buckets
		func(b *JoinBuckets) { b.First = b.First[:1] },               // none
		func(b *JoinBuckets) { b.Lows = b.Lows[:4*16+31] },           // too few lanes
		func(b *JoinBuckets) { b.Lanes = 0 },                         // lanes for one word
		func(b *JoinBuckets) { b.Lanes = JoinLanesMax + JoinVector }, // too many
		func(b *JoinBuckets) { b.Lanes = 24 },                        // half a vector
		func(b *JoinBuckets) { b.Shift = 64 },
	} {
		b := newJoinBuckets([]int{5, 1, 0, 7, 0, 0, 0, 9}, 32)
		spoil(b)
		calls[fmt.Sprint("join ", i)] = func() { Join(make([]JoinPair, 300), three, b, 3) }
	}
	for i, spoil := range []func(b *Buckets){
		func(b *Buckets) { b.First = b.First[:1] },
		func(b *Buckets) { b.Lines = b.Lines[:8] },
		func(b *Buckets) { b.Skew ^= 1 },
	} {
		b := NewBuckets(make([]uint64, 16), []uint64{0, 8}, 0, 4)
		spoil(b)
		calls[fmt.Sprint("scatter ", i)] = func() { Scatter(b, one) }
	}
	for _, ends := range [][]uint32{{11}, {5, 4}, {3, 1 << 31}, {10, 9}} { // ends for 10 keys
		keys := make([]uint64, 10)
		calls[fmt.Sprint("leaves ", ends)] = func() { SortLeaves(keys, keys, ends, 0) }
		calls[fmt.Sprint("near rows ", ends)] = func() { NearRows(rows, keys, ends, 0, 3) }
	}
	region := guard.New(t, 8*12)
	for name, c := range map[string]struct {
		starts []uint64
		key    uint64
	}{
		"below":     {[]uint64{0, 6}, 99},
		"above":     {[]uint64{0, 6}, 100 + 32},
		"no room":   {[]uint64{0, 6}, 131},
		"far":       {[]uint64{0, 1 << 50}, 131},
		"no bucket": {nil, 100},
	} {
		calls["scatter, "+name] = func() {
			b := NewBuckets(guard.Tail[uint64](region, 12), c.starts, 100, 4)
			for range 20 {
				Scatter(b, []uint64{c.key})
			}
		}
	}
	eachKernel(t, func(t *testing.T) {
		for name, call := range calls {
			must.Panic(t, name, call)
		}
	})
}

// FuzzDrawn tests the kernels whose complete input is made from a random seed.
func FuzzDrawn(f *testing.F) {
	f.Add(uint64(1), 3000)
	f.Fuzz(func(t *testing.T, seed uint64, n int) {
		eachFuzzKernel(t, func(string) {
			rng := rand.New(rand.NewPCG(seed, 10))
			n := n & 0x3fff
			checkFilter(t, rng, 7+rng.IntN(8), n)
			checkHalvesCase(t, rng, 1+rng.IntN(8), HalvesRoomMin+rng.IntN(64), 32+rng.IntN(16), n)
			checkScatter(t, rng, n)
			lengths, sizes := make([]uint32, n/16), make([]int, n/256)
			for i := range lengths {
				lengths[i] = rng.Uint32N(LeafMax + 1)
			}
			for i := range sizes {
				sizes[i] = rng.IntN(256)
			}
			checkLeaves(t, rng, lengths)
			checkNearRows(t, rng, sizes, rng.IntN(64), NearBucketMax)
		})
	})
}

// BenchmarkKernels measures the time of a kernel per element.
func BenchmarkKernels(b *testing.B) {
	const n = 1 << 20
	rng := rand.New(rand.NewPCG(1, 9))
	keys, dst := make([]uint64, n), make([]uint64, n)
	for i := range keys {
		keys[i] = rng.Uint64()
	}
	_, starts := partitioned(keys, 0, 53, 1<<11)
	var ends []uint32
	for end := range uint32(n / 8) {
		ends = append(ends, 8*(end+1))
	}
	buckets := NewBuckets(dst, starts, 0, 53)
	halves := newHalves(7, (2*n>>7+HalvesRoomMin)|8, 41)
	join := newJoinBuckets(slices.Repeat([]int{32}, 128), 32)
	pairs, rows := make([]JoinPair, 2*JoinLanesMax), make([]uint32, NearBucketMax)
	for i := range join.Lows {
		join.Lows[i] = rng.Uint32()
	}
	for name, run := range map[string]func(){
		"scatter": func() {
			copy(buckets.Next, buckets.First)
			Scatter(buckets, keys)
			ScatterFlush(buckets)
		},
		"halves": func() {
			ScatterHalves(halves, keys, 0)
			for i := range halves.Next {
				halves.Take(i)
			}
		},
		"permute":  func() { Permute(dst, keys, 0x0ff00ff00ff00ff0) },
		"within":   func() { Within64(rows, keys, keys[0], 3) },
		"filter":   func() { Filter(dst, keys, keys[:1<<15]) },
		"leaves":   func() { SortLeaves(dst, keys, ends, 0) },
		"nearrows": func() { NearRows(rows, keys, ends, 0, 3) },
		"join": func() {
			for pos := 0; pos < n; {
				_, done := Join(pairs, keys[pos:], join, 3)
				pos += done
			}
		},
	} {
		for _, kernel := range Backends() {
			b.Run(fmt.Sprintf("op=%s/kernel=%s", name, kernel), func(b *testing.B) {
				defer use(Backend())
				use(kernel)
				for b.Loop() {
					run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
			})
		}
	}
}
