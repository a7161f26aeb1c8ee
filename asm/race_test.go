//go:build race

package asm

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// envRace makes TestRaceChild race on purpose.
const envRace = "NDD_TEST_RACE"

// races are calls that read or write memory which another goroutine writes without
// any order between the two.
var races = map[string]func(touch func(write func())){
	"within64 reads xs": func(touch func(func())) {
		xs := make([]uint64, 100)
		touch(func() { xs[99] = 1 })
		Within64(make([]uint32, 100), xs, 0, 3)
	},
	"within64 writes dst": func(touch func(func())) {
		dst := make([]uint32, 100)
		touch(func() { dst[3] = 1 })
		Within64(dst, make([]uint64, 100), 0, 3)
	},
	"within32 reads xs": func(touch func(func())) {
		xs := make([]uint32, 100)
		touch(func() { xs[99] = 1 })
		Within32(make([]uint32, 100), xs, 0, 3)
	},
	"within32 writes dst": func(touch func(func())) {
		dst := make([]uint32, 100)
		touch(func() { dst[3] = 1 })
		Within32(dst, make([]uint32, 100), 0, 3)
	},
	"seek reads its data": func(touch func(func())) {
		data := make([]byte, seekFirst+512)
		touch(func() { data[400] = 1 })
		var s Seek
		s.Reset(data)
		s.Add(0, seekFirst, len(data), 0, 0, 1)
		s.Run(3, fullRulerWindow())
	},
	"join reads words": func(touch func(func())) {
		words := make([]uint64, 100)
		touch(func() { words[99] = 1 })
		Join(make([]JoinPair, 300), words, newJoinBuckets([]int{1}, 16), 0)
	},
	"join writes dst": func(touch func(func())) {
		dst := make([]JoinPair, 300)
		touch(func() { dst[3].Word = 1 })
		Join(dst, make([]uint64, 10), newJoinBuckets([]int{1}, 16), 0)
	},
	"scatter keys reads fingerprints": func(touch func(func())) {
		src := make([]uint64, 100)
		touch(func() { src[99] = 1 })
		ScatterKeys(newKeyPartitions(make([]uint64, 1024), 0, 2, 8), src, 0)
	},
	"scatter keys writes words": func(touch func(func())) {
		words := make([]uint64, 1024)
		touch(func() { words[3] = 1 })
		ScatterKeys(newKeyPartitions(words, 0, 2, 8), make([]uint64, 100), 0)
	},
	"scatter halves reads fingerprints": func(touch func(func())) {
		src := make([]uint64, 100)
		touch(func() { src[99] = 1 })
		ScatterHalves(newHalfPartitions(nil, 1, HalvesRoomMin, 40), src, 0)
	},
	"scatter halves writes words": func(touch func(func())) {
		words := make([]uint64, 4*HalvesRoomMin)
		touch(func() { words[3] = 1 })
		ScatterHalves(newHalfPartitions(words, 1, HalvesRoomMin, 40), make([]uint64, 100), 0)
	},
	"filter reads its bitmap": func(touch func(func())) {
		bitmap := make([]uint64, 4)
		touch(func() { bitmap[3] = 1 })
		Filter(make([]uint64, 9), make([]uint64, 9), bitmap)
	},
	"votes reads hashes": func(touch func(func())) {
		hashes := make([]uint64, 100)
		touch(func() { hashes[99] = 1 })
		Votes(new([64]uint64), hashes)
	},
	"votes reads weights": func(touch func(func())) {
		weights := make([]uint32, 100)
		touch(func() { weights[99] = 1 })
		WeightedVotes(new([64]uint64), make([]uint64, 100), weights)
	},
	"leaves reads src": func(touch func(func())) {
		src := make([]uint64, 40)
		touch(func() { src[39] = 1 })
		SortLeaves(make([]uint64, 40), src, []uint32{16, 30, 40}, 0)
	},
	"leaves writes dst": func(touch func(func())) {
		dst := make([]uint64, 40)
		touch(func() { dst[39] = 1 })
		SortLeaves(dst, make([]uint64, 40), []uint32{16, 30, 40}, 0)
	},
	"scatter reads keys": func(touch func(func())) {
		keys := make([]uint64, 40)
		touch(func() { keys[39] = 1 })
		Scatter(newBuckets(make([]uint64, 40), []uint64{0}, 0, 60), keys)
	},
	"nearrows reads keys": func(touch func(func())) {
		keys := make([]uint64, 40)
		touch(func() { keys[39] = 1 })
		NearRows(make([]uint32, 40), keys, []uint32{40}, 0, 3)
	},
	"votes writes counts": func(touch func(func())) {
		var counts [64]uint64
		touch(func() { counts[63] = 1 })
		Votes(&counts, make([]uint64, 100))
	},
	"permute reads src": func(touch func(func())) {
		src := make([]uint64, 300)
		touch(func() { src[299] = 1 })
		Permute(make([]uint64, 300), src, 0xff00)
	},
	"permute writes dst": func(touch func(func())) {
		dst := make([]uint64, 300)
		touch(func() { dst[299] = 1 })
		Unpermute(dst, make([]uint64, 300), 0xff00)
	},
	"interpolate reads keys": func(touch func(func())) {
		keys := make([]uint64, 100)
		touch(func() { keys[99] = 1 })
		Interpolate(make([]int, 3), keys, []uint64{0, 1, 1 << 63})
	},
	"interpolate reads what it seeks": func(touch func(func())) {
		sought := make([]uint64, 70)
		touch(func() { sought[69] = 1 })
		Interpolate(make([]int, 70), make([]uint64, 100), sought)
	},
	"interpolate writes dst": func(touch func(func())) {
		dst := make([]int, 70)
		touch(func() { dst[69] = 1 })
		Interpolate(dst, make([]uint64, 100), make([]uint64, 70))
	},
	"decode reads the block": func(touch func(func())) {
		block := rulerBlock(75, 64)
		touch(func() { block[63] = 1 })
		Decode(make([]uint64, 75), block, 0, rulerWindow(75, rulerBlock(75, 64)))
	},
	"decode writes dst": func(touch func(func())) {
		dst, block := make([]uint64, 75), rulerBlock(75, 64)
		touch(func() { dst[74] = 1 })
		Decode(dst, block, 0, rulerWindow(75, block))
	},
	"decode block reads the block": func(touch func(func())) {
		block := append(rulerBlock(75, 64), rulerBlock(75, 64)...)
		w := rulerWindow(75, block)
		touch(func() { block[127] = 1 })
		DecodeBlock(make([]uint64, 150), 74, block, 0, 1<<20, w)
	},
	"decode block writes dst": func(touch func(func())) {
		dst, block := make([]uint64, 150), append(rulerBlock(75, 64), rulerBlock(75, 64)...)
		touch(func() { dst[149] = 1 })
		DecodeBlock(dst, 74, block, 0, 1<<20, rulerWindow(75, block))
	},
	"planar locate reads its lines": func(touch func(func())) {
		p := planarOf(make([]uint64, 16), make([]uint16, 100+PlanarPad), 100, 6, 64)
		touch(func() { p.Lines[3] = 1 })
		PlanarLocate(p, make([]PlanarExtent, 1), []PlanarProbe{{Key: 5}}, 0, nil, nil)
	},
	"planar scan reads a run": func(touch func(func())) {
		p := planarOf(make([]uint64, 16), make([]uint16, 100+PlanarPad), 100, 6, 64)
		touch(func() { p.Low[41] = 1 })
		PlanarScan(p, make([]PlanarHit, PlanarLongest), []PlanarExtent{{40, 2, 0}}, []PlanarProbe{{Key: 5}})
	},
	"planar scan writes dst": func(touch func(func())) {
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
	if err != nil {
		t.Fatal(err)
	}
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
