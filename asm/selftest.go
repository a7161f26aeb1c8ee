package asm

import (
	"fmt"
	"slices"
)

// selfTest runs the kernels in use on fixed inputs, and compares the sums of their answers with the table of kernels.
// It takes microseconds and runs at the start of every process, to detect a processor, an emulator or a build that
// computes wrong results.
func selfTest() error {
	for _, k := range kernels {
		var a answers
		if k.run(&a); a.sum != k.sum {
			return fmt.Errorf("self-test of kernel %s on %s: its answers sum to %#x, want %#x", k.name, Backend(), a.sum,
				k.sum)
		}
	}
	return nil
}

// answers creates the input of a self-test, and sums the answers of the kernel.
type answers struct{ drawn, sum uint64 }

// words returns n pseudo-random words, the same ones every time.
func (a *answers) words(n int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		a.drawn++
		words[i] = a.drawn * 0x9e3779b97f4a7c15
		words[i] ^= words[i] >> 29 * 0xbf58476d1ce4e5b9
	}
	return words
}

// add adds answers to the sum, which depends on their order.
func add[T int | uint32 | uint64](a *answers, answers ...T) {
	for _, x := range answers {
		a.sum = (a.sum ^ uint64(x)) * 0x100000001b3
		a.sum ^= a.sum >> 32
	}
}

func runWithin64(a *answers) {
	dst := make([]uint32, 200)
	n, scanned := Within64(dst, a.words(200), 0x9e3779b97f4a7c15, 30)
	add(a, dst[:n]...)
	add(a, scanned)
}

func runWithin32(a *answers) {
	words, dst := narrow(a.words(200)), make([]uint32, 200)
	n, scanned := Within32(dst, words, 0x7f4a7c15, 14)
	add(a, dst[:n]...)
	add(a, scanned)
}

// narrow returns the upper halves of words.
func narrow(words []uint64) []uint32 {
	halves := make([]uint32, len(words))
	for i, w := range words {
		halves[i] = uint32(w >> 32)
	}
	return halves
}

func runDiffer(a *answers) {
	dst := make([]uint32, 6)
	Differ(dst, a.words(16), a.words(4*16), []uint32{3, 0, 1, 1, 2, 0})
	add(a, dst...)
}

func runWeightedVotes(a *answers) {
	var counts [64]uint64
	weights := narrow(a.words(320))
	for i := range weights {
		weights[i] %= votesHeavy
	}
	WeightedVotes(&counts, a.words(320), weights)
	add(a, counts[:]...)
}

// planar returns a table of 150 keys in 64 buckets, 48 per line, with i%5+1 keys or none in bucket i. It also returns
// probes near its keys, and space for their hits.
func (a *answers) planar() (p PlanarTable, probes []PlanarProbe, extents []PlanarExtent) {
	const perLine = 48
	p = PlanarTable{Lines: make([]uint64, 24), BucketBits: 6, PerLine: perLine, Inverse: PlanarInverse(perLine)}
	bit := uint64(0)
	for bucket := range uint64(64) {
		line := p.Lines[bucket/perLine*8:]
		if bucket%perLine == 0 {
			line[0], bit = p.Keys, 64
		}
		for range bucket % 5 {
			line[bit/64] |= 1 << (bit % 64)
			bit++
			p.Keys++
		}
		bit++
	}
	p.Lines[16] = p.Keys
	for _, low := range a.words(int(p.Keys) + PlanarPad) {
		p.Low = append(p.Low, uint16(low))
	}
	for i, key := range a.words(64) {
		probes = append(probes, PlanarProbe{Key: key, Limit: uint16(i % 17)})
	}
	return p, probes, make([]PlanarExtent, len(probes))
}

func runPlanarLocate(a *answers) {
	p, probes, extents := a.planar()
	PlanarPrefetchLines(&p, probes)
	n, done := PlanarLocate(&p, extents, probes, 0, nil, nil)
	for _, e := range extents[:n] {
		add(a, e.Start, uint64(e.Len), uint64(e.Probe))
	}
	add(a, done)
}

func runPlanarScan(a *answers) {
	p, probes, extents := a.planar()
	for i := range extents {
		extents[i] = PlanarExtent{Start: uint64(i), Len: uint32(i % 60), Probe: uint32(i)}
	}
	var dst [2 * PlanarLongest]PlanarHit
	PlanarPrefetchExtents(&p, extents)
	n, done := PlanarScan(&p, dst[:], extents, probes)
	for _, h := range dst[:n] {
		add(a, h.Pos, h.Probe)
	}
	add(a, done)
}

func runInterpolate(a *answers) {
	keys, found := a.words(200), make([]int, 70)
	for i := range keys {
		keys[i] >>= i % 9
	}
	slices.Sort(keys)
	Interpolate(found, keys, a.words(len(found)))
	add(a, found...)
}

func runDecode(a *answers) {
	keys := make([]uint64, 75)
	ok := Decode(keys, rulerBlock(len(keys), 64), 0, rulerWindow())
	add(a, keys...)
	add(a, map[bool]int{true: 1}[ok])
}

// runSeeks searches two halves of consecutive keys. The range ends in one of them.
func runSeeks(a *answers) {
	const n, from, bytes = 75, seekFirst, 512
	data := append(make([]byte, from), rulerBlock(n, bytes)...)
	data[from] = n - 1
	var s Seek
	s.Reset(data)
	s.Add(3, from, from+bytes, 0, 40, 60)
	s.Add(5, from, from+bytes, 0, 40, n)
	s.Run(1, rulerWindow())
	var sums [6]uint64 // the order of hits depends on the backend
	for i := range s.Hits() {
		number, key := s.Hit(i)
		sums[number] += 1<<32 + key
	}
	add(a, sums[:]...)
	for i := range s.Pending() {
		number, complete := s.PendingAt(i)
		add(a, number, map[bool]int{true: 1}[complete])
	}
}

func runPermute(a *answers) {
	for _, n := range []int{11, 300} { // long slices have their own forms
		keys := a.words(n)
		Permute(keys, keys, 0xf00ff00f1f0000f0)
		add(a, keys...)
		Unpermute(keys, keys, 0x00f70ff00f00100f)
		add(a, keys...)
	}
}

func runScatter(a *answers) {
	keys, dst := a.words(300), make([]uint64, 300)
	starts := make([]uint64, 16)
	for _, k := range keys {
		if d := k >> 60; d < 15 {
			starts[d+1]++
		}
	}
	for d := range starts[1:] {
		starts[d+1] += starts[d]
	}
	b := NewBuckets(dst, starts, 0, 60)
	Scatter(b, keys[:100])
	Scatter(b, keys[100:])
	ScatterFlush(b)
	add(a, dst...)
}

func runSortLeaves(a *answers) {
	keys, dst := a.words(LeafMax*(LeafMax+1)/2), make([]uint64, LeafMax*(LeafMax+1)/2)
	var ends []uint32
	end := uint32(0)
	for n := range uint32(LeafMax + 1) {
		end += n
		ends = append(ends, end)
	}
	add(a, SortLeaves(dst, keys, ends, 0))
	add(a, dst...)
}

func runJoin(a *answers) {
	b := JoinBuckets{First: []uint32{0, 8, 8, 16, 32}, Lows: narrow(a.words(64 + JoinLanesMax)), Shift: 62, Lanes: 32}
	var dst [2048]JoinPair
	n, done := Join(dst[:], a.words(100), &b, 12)
	for _, p := range dst[:n] {
		add(a, p.Word, p.Lane)
	}
	add(a, done)
}

func runScatterHalves(a *answers) {
	p := NewHalfPartitions(1, HalvesRoomMin|8, 40)
	p.Words = make([]uint64, p.Size())
	done, full := ScatterHalves(p, a.words(50), 0xabc)
	for i := range p.Next {
		add(a, p.Take(i)...)
	}
	add(a, done, full)
}

func runFilter(a *answers) {
	words := a.words(100)
	n := Filter(words, words, a.words(4))
	add(a, words[:n]...)
}

func runNearRows(a *answers) {
	keys, dst := a.words(60), make([]uint32, 60)
	n, done := NearRows(dst, keys, []uint32{1, 21, 44, 60}, 0, 22)
	add(a, dst[:n]...)
	add(a, done)
}
