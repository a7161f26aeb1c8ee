package asm

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
	"example.org/ndd/engine/oracle/must"
)

// newPlanar makes the lines of sorted keys, some of them wide, and the sentinel word after the last line.
func newPlanar(keys []uint64, bucketBits uint, perLine uint64) *PlanarTable {
	low := make([]uint16, len(keys)+PlanarPad)
	for i, key := range keys {
		low[i] = uint16(key)
	}
	lines := (1<<bucketBits + perLine - 1) / perLine
	p := planarOf(make([]uint64, 8*lines+8), low, uint64(len(keys)), bucketBits, perLine)
	from := 0
	for line := range lines {
		to := from
		for to < len(keys) && keys[to]>>(64-bucketBits)/perLine == line {
			to++
		}
		p.setLine(line, uint64(from), keys[from:to])
		from = to
	}
	p.Lines[8*lines] = p.Keys
	return p
}

// planarOf returns a table of the given lines and low bits, without checks.
func planarOf(lines []uint64, low []uint16, keys uint64, bucketBits uint, perLine uint64) *PlanarTable {
	return &PlanarTable{Lines: lines, Low: low, Keys: keys, BucketBits: bucketBits, PerLine: perLine,
		Inverse: PlanarInverse(perLine)}
}

// setLine writes the line of these keys, or marks it as wide.
func (p *PlanarTable) setLine(line, base uint64, keys []uint64) {
	words := p.Lines[8*line:][:8]
	first := line * p.PerLine
	words[0] = base
	if uint64(len(keys))+min(p.PerLine, 1<<p.BucketBits-first) > PlanarLineBits {
		words[0] |= PlanarWide
		return
	}
	for i, key := range keys {
		pos := 64 + key>>(64-p.BucketBits) - first + uint64(i)
		words[pos/64] |= 1 << (pos % 64)
	}
}

// guarded copies p to memory between inaccessible pages, at the head and at the tail.
func guarded(t testing.TB, p *PlanarTable) [2]*PlanarTable {
	lines0, lines1 := guard.Copies(t, p.Lines)
	low0, low1 := guard.Copies(t, p.Low)
	return [2]*PlanarTable{
		planarOf(lines0, low0, p.Keys, p.BucketBits, p.PerLine),
		planarOf(lines1, low1, p.Keys, p.BucketBits, p.PerLine),
	}
}

// planarProbes are probes at and near keys and anywhere.
func planarProbes(r *rand.Rand, keys []uint64, n int) []PlanarProbe {
	probes := make([]PlanarProbe, n)
	for i := range probes {
		key := r.Uint64()
		if len(keys) > 0 && i%3 > 0 {
			key = keys[r.IntN(len(keys))] ^ uint64(flips32(r, r.IntN(4)))
		}
		probes[i] = PlanarProbe{Key: key, Limit: uint16(r.IntN(18)), Query: uint32(i)}
	}
	return probes
}

// findPlanar computes the results of PlanarLocate and PlanarScan by comparing all keys. It leaves out probes with a
// wide line, or with a bucket of too many keys.
func findPlanar(keys []uint64, bucketBits uint, probe PlanarProbe) (start, length uint64, hits []uint64) {
	shift := 64 - bucketBits
	for i, key := range keys {
		if key>>shift < probe.Key>>shift {
			start++
		}
		if key>>shift == probe.Key>>shift {
			length++
			if uint16(bits.OnesCount16(uint16(key^probe.Key))) <= probe.Limit {
				hits = append(hits, uint64(i))
			}
		}
	}
	return start, length, hits
}

// planarSets are sorted keys of several shapes and sizes.
func planarSets(r *rand.Rand) [][]uint64 {
	var all [][]uint64
	for _, n := range []int{0, 1, 2, 31, 32, 33, 500, 3000} {
		for _, and := range []uint64{^uint64(0), 0x00ffffffffffffff, 0xfff000000000ffff, 0xffff00} {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = r.Uint64() & and
			}
			slices.Sort(keys)
			all = append(all, slices.Compact(keys))
		}
	}
	return all
}

// TestPlanar checks that for every probe of every set, the extent is the bucket, and the hits are exactly its near
// keys.
func TestPlanar(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		located, passed := 0, 0
		for _, keys := range planarSets(r) {
			for _, shape := range []struct {
				bucketBits uint
				perLine    uint64
			}{{1, 2}, {6, 64}, {7, 3}, {9, 200}, {12, 300}, {12, PlanarLineBits}, {PlanarBucketBitsMax - 36, 7}} {
				p := newPlanar(keys, shape.bucketBits, shape.perLine)
				for _, p := range guarded(t, p) {
					n, over := checkPlanarProbes(t, r, p, keys)
					located += n
					passed += over
				}
			}
		}
		if located < 1000 || passed < 100 {
			t.Fatalf("%d probes located and %d passed over test too little", located, passed)
		}
	})
}

// checkPlanarProbes returns how many probes were located, and passed over.
func checkPlanarProbes(t *testing.T, r *rand.Rand, p *PlanarTable, keys []uint64) (located, passed int) {
	probes := planarProbes(r, keys, 100)
	PlanarPrefetchLines(p, probes)
	extents := make([]PlanarExtent, len(probes))
	dst := make([]PlanarHit, PlanarLongest+r.IntN(100))
	for first := 0; first < len(probes); {
		ahead := probes[first:]
		if r.IntN(2) == 0 {
			ahead = nil
		}
		found, done := PlanarLocate(p, extents, probes, first, p, ahead)
		PlanarPrefetchExtents(p, extents[:found])
		var want []PlanarHit
		tail := extents[:found]
		for i, probe := range probes[first : first+done] {
			start, length, hits := findPlanar(keys, p.BucketBits, probe)
			if length == 0 {
				continue
			}
			extent := PlanarExtent{start, uint32(length), uint32(first + i)}
			if len(tail) == 0 || tail[0] != extent {
				t.Fatalf("%d keys, %d bits, %d a line, probe %x: extents %v, want %v first", len(keys), p.BucketBits, p.PerLine,
					probe, tail, extent)
			}
			tail = tail[1:]
			for _, pos := range hits {
				want = append(want, PlanarHit{pos, uint64(first + i)})
			}
		}
		if len(tail) > 0 {
			t.Fatalf("%d keys, %d bits, %d a line: extents %v are of no probe", len(keys), p.BucketBits, p.PerLine, tail)
		}
		var got []PlanarHit
		for pos := 0; pos < found; {
			hits, ready := PlanarScan(p, dst, extents[pos:found], probes)
			got = append(got, dst[:hits]...)
			if ready == 0 {
				t.Fatalf("no progress with room for %d", len(dst))
			}
			pos += ready
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d keys, %d bits: %d hits, want %d", len(keys), p.BucketBits, len(got), len(want))
		}
		located += done
		if first += done; first < len(probes) {
			_, length, _ := findPlanar(keys, p.BucketBits, probes[first])
			if p.Lines[8*(probes[first].Key>>(64-p.BucketBits)/p.PerLine)]&PlanarWide == 0 && length <= PlanarBucketMax {
				t.Fatalf("stopped before a bucket of %d in a narrow line", length)
			}
			passed++
			first++
		}
	}
	return located, passed
}

// TestPlanarInverse checks that the quotient by the inverse is exact for every number of bits that a bucket can have.
func TestPlanarInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for perLine := uint64(2); perLine <= PlanarLineBits; perLine++ {
		inverse := PlanarInverse(perLine)
		for range 1000 {
			line := r.Uint64N(1<<PlanarBucketBitsMax/perLine + 1)
			for _, b := range []uint64{line * perLine, line*perLine + perLine - 1} {
				if got, _ := bits.Mul64(b, inverse); got != line {
					t.Fatalf("%d / %d is %d", b, perLine, got)
				}
			}
		}
	}
}

// TestPlanarPanics checks that each kernel panics if a slice is too short for its numbers, or if a number exceeds its
// limit. The cases have the name of the part of the table that the kernel reads.
func TestPlanarPanics(t *testing.T) {
	lines := map[string]func(p *PlanarTable){
		"locate":         func(p *PlanarTable) { PlanarLocate(p, nil, nil, 0, nil, nil) },
		"prefetch lines": func(p *PlanarTable) { PlanarPrefetchLines(p, nil) },
		"locate the next": func(p *PlanarTable) {
			good := newPlanar(make([]uint64, 100), 6, 64)
			PlanarLocate(good, make([]PlanarExtent, 1), make([]PlanarProbe, 1), 0, p, make([]PlanarProbe, 1))
		},
	}
	low := map[string]func(p *PlanarTable){
		"scan":             func(p *PlanarTable) { PlanarScan(p, nil, nil, nil) },
		"prefetch extents": func(p *PlanarTable) { PlanarPrefetchExtents(p, nil) },
	}
	for name, c := range map[string]struct {
		calls map[string]func(p *PlanarTable)
		spoil func(p *PlanarTable)
	}{
		"a line too few":    {lines, func(p *PlanarTable) { p.Lines = p.Lines[8:] }},
		"no bucket bits":    {lines, func(p *PlanarTable) { p.BucketBits = 0 }},
		"many bucket bits":  {lines, func(p *PlanarTable) { p.BucketBits = PlanarBucketBitsMax + 1 }},
		"a bucket bit more": {lines, func(p *PlanarTable) { p.BucketBits++ }},
		"a bucket a line":   {lines, func(p *PlanarTable) { p.PerLine = 1 }},
		"too many a line":   {lines, func(p *PlanarTable) { p.PerLine = PlanarLineBits + 1 }},
		"another inverse":   {lines, func(p *PlanarTable) { p.Inverse = PlanarInverse(3) }},
		"a low too few":     {low, func(p *PlanarTable) { p.Low = p.Low[1:] }},
		"no padding":        {low, func(p *PlanarTable) { p.Low, p.Keys = p.Low[:PlanarPad-1], 0 }},
	} {
		for call, f := range c.calls {
			p := newPlanar(make([]uint64, 100), 6, 64)
			c.spoil(p)
			must.Panic(t, name+", "+call, func() { f(p) })
		}
	}
}

// TestPlanarScanEveryLength scans extents of every length at every position. The elements after the extent also match,
// so a scan that reads too far has more hits.
func TestPlanarScanEveryLength(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		low := make([]uint16, PlanarLongest+40+PlanarPad)
		for _, p := range guarded(t, planarOf(make([]uint64, 16), low, PlanarLongest+40, 6, 64)) {
			dst := make([]PlanarHit, PlanarLongest)
			for n := range PlanarLongest + 1 {
				pos := uint64(n % 41)
				hits, done := PlanarScan(p, dst, []PlanarExtent{{pos, uint32(n), 0}},
					[]PlanarProbe{{Key: 0xfff0_0000_0000_0007, Limit: 3}})
				if hits != n || done != 1 {
					t.Fatalf("%d elements from %d: %d hits", n, pos, hits)
				}
				for i, h := range dst[:hits] {
					if h.Pos != pos+uint64(i) || h.Probe != 0 {
						t.Fatalf("%d elements from %d: hit %d is %v", n, pos, i, h)
					}
				}
				if hits, _ := PlanarScan(p, dst, []PlanarExtent{{pos, uint32(n), 0}}, []PlanarProbe{{Key: 7, Limit: 2}}); hits != 0 {
					t.Fatalf("%d elements from %d: %d hits above the limit", n, pos, hits)
				}
			}
		}
	})
}

// TestPlanarHostile checks that corrupt lines cause no access outside the keys.
func TestPlanarHostile(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		located := 0
		for range 2000 {
			p := planarOf(make([]uint64, 24), make([]uint16, 100+PlanarPad), 100, 7, 64+r.Uint64N(64))
			for i := range p.Lines {
				p.Lines[i] = r.Uint64() >> r.IntN(64) & (r.Uint64() | -(r.Uint64() & 1))
				if i%8 == 0 && r.IntN(4) > 0 {
					p.Lines[i] = r.Uint64N(100)
				}
			}
			probes := planarProbes(r, nil, 50)
			extents, want := make([]PlanarExtent, 50), make([]PlanarExtent, 50)
			for first := 0; first < len(probes); first++ {
				found, done := PlanarLocate(p, extents, probes, first, nil, nil)
				wanted, ready := planarLocateGeneric(p, want, probes[first:], uint64(first))
				if done != ready || !slices.Equal(extents[:found], want[:wanted]) {
					t.Fatalf("located %v after %d, the specification %v after %d", extents[:found], done, want[:wanted], ready)
				}
				for _, extent := range extents[:found] {
					if extent.Start > 100 || uint64(extent.Len) > 100-extent.Start {
						t.Fatalf("extent %v of 100 keys", extent)
					}
				}
				located += done
				first += done
			}
			bad := PlanarExtent{r.Uint64() >> r.IntN(64), r.Uint32() >> r.IntN(32), r.Uint32N(3)}
			if bad.Start > 100 || uint64(bad.Len) > 100-bad.Start || bad.Probe > 0 {
				must.Panic(t, "an extent beyond the keys is scanned", func() {
					PlanarScan(p, make([]PlanarHit, PlanarLongest), []PlanarExtent{bad}, []PlanarProbe{{}})
				})
			}
		}
		if located < 1000 {
			t.Fatalf("%d probes located test too little", located)
		}
	})
}

func TestSelectBit(t *testing.T) {
	for _, word := range testMasks(rand.New(rand.NewPCG(9, 64)), 600) {
		n := 0
		for place := range 64 {
			if word>>place&1 != 0 {
				if got := SelectBit(word, n); got != place {
					t.Fatalf("bit number %d of %#x is at %d, want %d", n, word, got, place)
				}
				n++
			}
		}
	}
}
