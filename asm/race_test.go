//go:build race

package asm

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// envRace makes TestRaceChild race on purpose.
const envRace = "NDD_TEST_RACE"

// writeFunc calls write in another goroutine, without synchronization with the caller.
type writeFunc func(write func())

// last returns n elements. Another goroutine writes the last one.
func last[T any](touch writeFunc, n int) []T {
	list := make([]T, n)
	touch(func() { list[n-1] = *new(T) })
	return list
}

// races returns calls that read or write memory which another goroutine writes.
func races() map[string]func(touch writeFunc) {
	zeros, zeros32, ends := make([]uint64, 300), make([]uint32, 300), []uint32{16, 30, 40}
	pairs, joined := make([]JoinPair, 300), newJoinBuckets([]int{1}, 16)
	planar := planarOf(make([]uint64, 16), make([]uint16, 100+PlanarPad), 100, 6, 64)
	probes, hits := []PlanarProbe{{Key: 5}}, make([]PlanarHit, PlanarLongest)
	return map[string]func(touch writeFunc){
		"within64 reads xs":   func(touch writeFunc) { Within64(zeros32, last[uint64](touch, 100), 0, 3) },
		"within64 writes dst": func(touch writeFunc) { Within64(last[uint32](touch, 100), zeros[:100], 0, 3) },
		"within32 reads xs":   func(touch writeFunc) { Within32(zeros32, last[uint32](touch, 100), 0, 3) },
		"within32 writes dst": func(touch writeFunc) { Within32(last[uint32](touch, 100), zeros32[:100], 0, 3) },
		"differ reads lines":  func(touch writeFunc) { Differ(zeros32[:1], zeros[:8], last[uint64](touch, 8), zeros32[:1]) },
		"differ writes dst":   func(touch writeFunc) { Differ(last[uint32](touch, 1), zeros[:8], zeros[:8], zeros32[:1]) },
		"seek reads its data": func(touch writeFunc) {
			data := make([]byte, seekFirst+512)
			touch(func() { data[400] = 1 })
			var s Seek
			s.Reset(data)
			s.Add(0, seekFirst, len(data), 0, 0, 1)
			s.Run(3, rulerWindow())
		},
		"join reads words": func(touch writeFunc) { Join(pairs, last[uint64](touch, 100), joined, 0) },
		"join writes dst":  func(touch writeFunc) { Join(last[JoinPair](touch, 300), zeros[:10], joined, 0) },
		"scatter halves reads fingerprints": func(touch writeFunc) {
			ScatterHalves(newHalves(1, HalvesRoomMin, 40), last[uint64](touch, 100), 0)
		},
		"scatter halves writes words": func(touch writeFunc) {
			p := NewHalfPartitions(1, HalvesRoomMin, 40)
			p.Words = last[uint64](touch, p.Size())
			ScatterHalves(p, zeros[:100], 0)
		},
		"filter reads its bitmap": func(touch writeFunc) {
			Filter(make([]uint64, 9), zeros[:9], last[uint64](touch, 4))
		},
		"votes reads hashes": func(touch writeFunc) {
			WeightedVotes(new([64]uint64), last[uint64](touch, 300), zeros32)
		},
		"votes reads weights": func(touch writeFunc) { WeightedVotes(new([64]uint64), zeros, last[uint32](touch, 300)) },
		"votes writes counts": func(touch writeFunc) {
			WeightedVotes((*[64]uint64)(last[uint64](touch, 64)), zeros, zeros32)
		},
		"leaves reads src": func(touch writeFunc) {
			SortLeaves(make([]uint64, 40), last[uint64](touch, 40), ends, 0)
		},
		"leaves writes dst": func(touch writeFunc) { SortLeaves(last[uint64](touch, 40), zeros[:40], ends, 0) },
		"scatter reads keys": func(touch writeFunc) {
			Scatter(NewBuckets(make([]uint64, 40), zeros[:1], 0, 60), last[uint64](touch, 40))
		},
		"nearrows reads keys": func(touch writeFunc) { NearRows(zeros32, last[uint64](touch, 40), ends[2:], 0, 3) },
		"permute reads src":   func(touch writeFunc) { Permute(make([]uint64, 300), last[uint64](touch, 300), 0xff00) },
		"permute writes dst":  func(touch writeFunc) { Unpermute(last[uint64](touch, 300), zeros, 0xff00) },
		"interpolate reads keys": func(touch writeFunc) {
			Interpolate(make([]int, 3), last[uint64](touch, 100), []uint64{0, 1, 1 << 63})
		},
		"interpolate reads what it seeks": func(touch writeFunc) {
			Interpolate(make([]int, 70), zeros[:100], last[uint64](touch, 70))
		},
		"interpolate writes dst": func(touch writeFunc) { Interpolate(last[int](touch, 70), zeros[:100], zeros[:70]) },
		"decode reads the block": func(touch writeFunc) {
			block := rulerBlock(75, 64)
			touch(func() { block[63] = 1 })
			Decode(make([]uint64, 75), block, 0, rulerWindow())
		},
		"decode writes dst": func(touch writeFunc) { Decode(last[uint64](touch, 75), rulerBlock(75, 64), 0, rulerWindow()) },
		"planar locate reads its lines": func(touch writeFunc) {
			touch(func() { planar.Lines[3] = 1 })
			PlanarLocate(planar, make([]PlanarExtent, 1), probes, 0, nil, nil)
		},
		"planar scan reads a run": func(touch writeFunc) {
			touch(func() { planar.Low[41] = 1 })
			PlanarScan(planar, hits, []PlanarExtent{{40, 2, 0}}, probes)
		},
		"planar scan writes dst": func(touch writeFunc) {
			touch(func() { hits[0].Pos = 1 })
			PlanarScan(planar, hits, []PlanarExtent{{40, 2, 0}}, probes)
		},
	}
}

// TestRaceDetector checks that the race detector sees all reads and writes of the best kernel and of the generic one.
// The wrappers report the accesses that assembly hides from it.
func TestRaceDetector(t *testing.T) {
	exe, err := os.Executable()
	must.Do(t, err)
	for _, kernel := range slices.Compact([]string{Backend(), Generic}) {
		for name := range races() {
			t.Run("kernel="+kernel+"/"+name, func(t *testing.T) {
				child := exec.Command(exe, "-test.run=^TestRaceChild$")
				child.Env = append(os.Environ(), envRace+"="+name, envKernel+"="+kernel, envRequire+"=", "GORACE=atexit_sleep_ms=0")
				out, err := child.CombinedOutput()
				if err == nil || !bytes.Contains(out, []byte("WARNING: DATA RACE")) {
					t.Errorf("the race was not seen: %v\n%s", err, out)
				}
			})
		}
	}
}

func TestRaceChild(t *testing.T) {
	race, ok := races()[os.Getenv(envRace)]
	if !ok {
		return // TestRaceDetector runs this test with a race; otherwise there is nothing to test
	}
	race(func(write func()) {
		written := new(uint32)
		go func() {
			write()
			raise(written)
		}()
		for !raised(written) {
			runtime.Gosched()
		}
	})
}

// raise and raised set and read a flag that the race detector ignores. It would report plain accesses,
// and atomic ones would order the goroutines.
//
//go:norace
func raise(flag *uint32) { *flag = 1 }

//go:norace
//go:noinline
func raised(flag *uint32) bool { return *flag == 1 }
