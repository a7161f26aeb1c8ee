package asm

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// newPlanar makes the directory of sorted keys, and which blocks had to be wide.
func newPlanar(keys []uint64, groupBits uint) *Planar {
	p := &Planar{Keys: uint64(len(keys)), GroupBits: groupBits, Groups: make([]uint64, 1<<groupBits/8+8)}
	start := func(group uint64) uint64 {
		i, _ := slices.BinarySearchFunc(keys, group, func(key, group uint64) int {
			if key>>(64-groupBits) < group {
				return -1
			}
			return 1
		})
		return uint64(i)
	}
	for block := range uint64(1) << groupBits / 64 {
		var starts [64]uint64
		for j := range starts {
			starts[j] = start(block*64 + uint64(j))
		}
		p.SetBlock(block, &starts, start(block*64+64))
	}
	p.Groups[1<<groupBits/8+7] = p.Keys << 8
	p.Low = make([]uint16, len(keys)+PlanarPad)
	for i, key := range keys {
		p.Low[i] = uint16(key)
	}
	return p
}

// guarded is p on memory between inaccessible pages, at their head and at their
// tail.
func guarded(t testing.TB, p *Planar) [2]*Planar {
	var out [2]*Planar
	groups0, groups1 := guard.Copies(t, p.Groups)
	low0, low1 := guard.Copies(t, p.Low)
	out[0] = &Planar{groups0, low0, p.Keys, p.GroupBits}
	out[1] = &Planar{groups1, low1, p.Keys, p.GroupBits}
	return out
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

// findPlanar is what Locate and Scan find, by looking at all keys, for the probes
// whose block is not wide and whose run is not too long.
func findPlanar(keys []uint64, groupBits uint, probe PlanarProbe) (run PlanarRun, hits []uint64) {
	shift := 64 - groupBits
	for i, key := range keys {
		if key>>shift < probe.Key>>shift {
			run.Start++
		}
		if key>>shift == probe.Key>>shift {
			run.Len++
			if uint16(bits.OnesCount16(uint16(key^probe.Key))) <= probe.Limit {
				hits = append(hits, uint64(i))
			}
		}
	}
	return run, hits
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

// Every probe of every set: the run is the group, the hits are all its close keys,
// and probes are only passed over where the directory cannot tell.
func TestPlanar(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		located, passed := 0, 0
		for _, keys := range planarSets(r) {
			for _, groupBits := range []uint{6, 7, 9} {
				for _, p := range guarded(t, newPlanar(keys, groupBits)) {
					probes := planarProbes(r, keys, 100)
					p.Ahead(probes)
					runs := make([]PlanarRun, len(probes))
					dst := make([]PlanarHit, PlanarLongest+r.IntN(100))
					for len(probes) > 0 {
						done := p.Locate(runs, probes)
						var want []PlanarHit
						for i, probe := range probes[:done] {
							run, hits := findPlanar(keys, groupBits, probe)
							if run.Len == 0 {
								run.Start = runs[i].Start // anywhere
							}
							if runs[i] != run {
								t.Fatalf("%d keys, %d bits, probe %x: run %v, want %v", len(keys), groupBits, probe, runs[i], run)
							}
							for _, pos := range hits {
								want = append(want, PlanarHit{pos, uint64(i)})
							}
						}
						var got []PlanarHit
						for at := 0; at < done; {
							hits, ready := p.Scan(dst, runs[at:done], probes[at:])
							for _, h := range dst[:hits] {
								got = append(got, PlanarHit{h.Pos, h.Probe + uint64(at)})
							}
							if ready == 0 {
								t.Fatalf("no progress with room for %d", len(dst))
							}
							at += ready
						}
						if !slices.Equal(got, want) {
							t.Fatalf("%d keys, %d bits: %d hits, want %d", len(keys), groupBits, len(got), len(want))
						}
						located += done
						if probes, runs = probes[done:], runs[done:]; len(probes) > 0 {
							run, _ := findPlanar(keys, groupBits, probes[0])
							block := probes[0].Key >> (64 - groupBits) / 64
							if !p.Wide(block) && run.Len <= PlanarLongest {
								t.Fatalf("stopped before a run of %d in a narrow block", run.Len)
							}
							probes, runs = probes[1:], runs[1:]
							passed++
						}
					}
				}
			}
		}
		if located < 1000 || passed < 100 {
			t.Fatalf("%d probes located and %d passed over test too little", located, passed)
		}
	})
}

// Runs of every length at every place, whose elements behind the run would hit.
func TestPlanarScanEveryLength(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		low := make([]uint16, PlanarLongest+40+PlanarPad)
		p := &Planar{Groups: make([]uint64, 16), Low: low, Keys: PlanarLongest + 40, GroupBits: 6}
		for _, p := range guarded(t, p) {
			dst := make([]PlanarHit, PlanarLongest)
			for n := range PlanarLongest + 1 {
				at := uint64(n % 41)
				hits, done := p.Scan(dst, []PlanarRun{{at, uint64(n)}}, []PlanarProbe{{Key: 0xfff0_0000_0000_0007, Limit: 3}})
				if hits != n || done != 1 {
					t.Fatalf("%d elements from %d: %d hits", n, at, hits)
				}
				for i, h := range dst[:hits] {
					if h.Pos != at+uint64(i) || h.Probe != 0 {
						t.Fatalf("%d elements from %d: hit %d is %v", n, at, i, h)
					}
				}
				if hits, _ := p.Scan(dst, []PlanarRun{{at, uint64(n)}}, []PlanarProbe{{Key: 7, Limit: 2}}); hits != 0 {
					t.Fatalf("%d elements from %d: %d hits above the limit", n, at, hits)
				}
			}
		}
	})
}

// A directory that lies leads nowhere outside the keys.
func TestPlanarHostile(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for range 2000 {
			p := &Planar{Groups: make([]uint64, 24), Low: make([]uint16, 100+PlanarPad), Keys: 100, GroupBits: 7}
			for i := range p.Groups {
				p.Groups[i] = r.Uint64() >> r.IntN(64)
			}
			probes := planarProbes(r, nil, 50)
			runs, want := make([]PlanarRun, 50), make([]PlanarRun, 50)
			for len(probes) > 0 {
				done := p.Locate(runs, probes)
				if wanted := planarLocateGeneric(want[:len(probes)], probes, p); done != wanted || !slices.Equal(runs[:done], want[:done]) {
					t.Fatalf("located %d, the specification %d", done, wanted)
				}
				for _, run := range runs[:done] {
					if run.Start > 100 || run.Len > 100-run.Start {
						t.Fatalf("run %v of 100 keys", run)
					}
				}
				if done == len(probes) {
					break
				}
				probes = probes[done+1:]
			}
			bad := []PlanarRun{{r.Uint64() >> r.IntN(64), r.Uint64() >> r.IntN(64)}}
			if bad[0].Start > 100 || bad[0].Len > 100-bad[0].Start {
				func() {
					defer func() {
						if recover() == nil {
							t.Fatalf("run %v of 100 keys is scanned", bad[0])
						}
					}()
					p.Scan(make([]PlanarHit, PlanarLongest), bad, []PlanarProbe{{}})
				}()
			}
		}
	})
}
