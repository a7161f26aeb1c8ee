//go:build race

package asm

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"ndd/engine/oracle/must"
)

// envRace makes TestRaceChild race on purpose.
const envRace = "NDD_TEST_RACE"

// touching has another goroutine write, in no order with what follows.
type touching func(write func())

// last returns n elements of which the last is written by another goroutine.
func last[T any](touch touching, n int) []T {
	list := make([]T, n)
	touch(func() { list[n-1] = *new(T) })
	return list
}

// races are calls that read or write memory which another goroutine writes.
var races = map[string]func(touch touching){
	"within64 reads xs": func(touch touching) { Within64(make([]uint32, 100), last[uint64](touch, 100), 0, 3) },
	"within64 writes dst": func(touch touching) {
		Within64(last[uint32](touch, 100), make([]uint64, 100), 0, 3)
	},
	"within32 reads xs": func(touch touching) { Within32(make([]uint32, 100), last[uint32](touch, 100), 0, 3) },
	"within32 writes dst": func(touch touching) {
		Within32(last[uint32](touch, 100), make([]uint32, 100), 0, 3)
	},
	"seek reads its data": func(touch touching) {
		data := make([]byte, seekFirst+512)
		touch(func() { data[400] = 1 })
		var s Seek
		s.Reset(data)
		s.Add(0, seekFirst, len(data), 0, 0, 1)
		s.Run(3, rulerWindow())
	},
	"join reads words": func(touch touching) {
		Join(make([]JoinPair, 300), last[uint64](touch, 100), newJoinBuckets([]int{1}, 16), 0)
	},
	"join writes dst": func(touch touching) {
		Join(last[JoinPair](touch, 300), make([]uint64, 10), newJoinBuckets([]int{1}, 16), 0)
	},
	"scatter halves reads fingerprints": func(touch touching) {
		ScatterHalves(newHalves(1, HalvesRoomMin, 40), last[uint64](touch, 100), 0)
	},
	"scatter halves writes words": func(touch touching) {
		p := NewHalfPartitions(1, HalvesRoomMin, 40)
		p.Words = last[uint64](touch, p.Size())
		ScatterHalves(p, make([]uint64, 100), 0)
	},
	"filter reads its bitmap": func(touch touching) {
		Filter(make([]uint64, 9), make([]uint64, 9), last[uint64](touch, 4))
	},
	"votes reads hashes": func(touch touching) {
		WeightedVotes(new([64]uint64), last[uint64](touch, 100), make([]uint32, 100))
	},
	"votes reads weights": func(touch touching) {
		WeightedVotes(new([64]uint64), make([]uint64, 100), last[uint32](touch, 100))
	},
	"leaves reads src": func(touch touching) {
		SortLeaves(make([]uint64, 40), last[uint64](touch, 40), []uint32{16, 30, 40}, 0)
	},
	"leaves writes dst": func(touch touching) {
		SortLeaves(last[uint64](touch, 40), make([]uint64, 40), []uint32{16, 30, 40}, 0)
	},
	"scatter reads keys": func(touch touching) {
		Scatter(NewBuckets(make([]uint64, 40), []uint64{0}, 0, 60), last[uint64](touch, 40))
	},
	"nearrows reads keys": func(touch touching) {
		NearRows(make([]uint32, 40), last[uint64](touch, 40), []uint32{40}, 0, 3)
	},
	"votes writes counts": func(touch touching) {
		var counts [64]uint64
		touch(func() { counts[63] = 1 })
		WeightedVotes(&counts, make([]uint64, 100), make([]uint32, 100))
	},
	"permute reads src": func(touch touching) { Permute(make([]uint64, 300), last[uint64](touch, 300), 0xff00) },
	"permute writes dst": func(touch touching) {
		Unpermute(last[uint64](touch, 300), make([]uint64, 300), 0xff00)
	},
	"interpolate reads keys": func(touch touching) {
		Interpolate(make([]int, 3), last[uint64](touch, 100), []uint64{0, 1, 1 << 63})
	},
	"interpolate reads what it seeks": func(touch touching) {
		Interpolate(make([]int, 70), make([]uint64, 100), last[uint64](touch, 70))
	},
	"interpolate writes dst": func(touch touching) {
		Interpolate(last[int](touch, 70), make([]uint64, 100), make([]uint64, 70))
	},
	"decode reads the block": func(touch touching) {
		block := rulerBlock(75, 64)
		touch(func() { block[63] = 1 })
		Decode(make([]uint64, 75), block, 0, rulerWindow())
	},
	"decode writes dst": func(touch touching) {
		dst, block := make([]uint64, 75), rulerBlock(75, 64)
		touch(func() { dst[74] = 1 })
		Decode(dst, block, 0, rulerWindow())
	},
	"planar locate reads its lines": func(touch touching) {
		p := planarOf(make([]uint64, 16), make([]uint16, 100+PlanarPad), 100, 6, 64)
		touch(func() { p.Lines[3] = 1 })
		PlanarLocate(p, make([]PlanarExtent, 1), []PlanarProbe{{Key: 5}}, 0, nil, nil)
	},
	"planar scan reads a run": func(touch touching) {
		p := planarOf(make([]uint64, 16), make([]uint16, 100+PlanarPad), 100, 6, 64)
		touch(func() { p.Low[41] = 1 })
		PlanarScan(p, make([]PlanarHit, PlanarLongest), []PlanarExtent{{40, 2, 0}}, []PlanarProbe{{Key: 5}})
	},
	"planar scan writes dst": func(touch touching) {
		p := planarOf(make([]uint64, 16), make([]uint16, 100+PlanarPad), 100, 6, 64)
		dst := make([]PlanarHit, PlanarLongest)
		touch(func() { dst[0].Pos = 1 })
		PlanarScan(p, dst, []PlanarExtent{{40, 2, 0}}, []PlanarProbe{{Key: 5}})
	},
}

// The race detector sees what the best kernel and the generic one read and write, as the wrappers tell it of
// what is in assembly or hidden from it.
func TestRaceSeen(t *testing.T) {
	exe, err := os.Executable()
	must.Do(t, err)
	for _, kernel := range slices.Compact([]string{Backend(), Generic}) {
		for name := range races {
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
	race, ok := races[os.Getenv(envRace)]
	if !ok {
		return // run by itself there is nothing to do: TestRaceSeen runs it with a race
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

// raise and raised tell, in no order that the race detector knows of, that something is done. Between
// atomic ones it would see an order, and plain ones it would report.
//
//go:norace
func raise(flag *uint32) { *flag = 1 }

//go:norace
//go:noinline
func raised(flag *uint32) bool { return *flag == 1 }
