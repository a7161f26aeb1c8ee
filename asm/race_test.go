//go:build race

package asm

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"
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
	"within32 reads a short run": func(touch func(func())) {
		low := make([]uint32, 100)
		touch(func() { low[40] = 1 })
		Within32(make([]Hit32, 100), low, 0, []Span{{0, 3, 0}, {20, 21, 0}})
	},
	"within32 reads a long run": func(touch func(func())) {
		low := make([]uint32, 5000)
		touch(func() { low[4900] = 1 })
		Within32(make([]Hit32, 100), low, 1<<31, []Span{{10, 4990, 0}})
	},
	"within32 reads its spans": func(touch func(func())) {
		spans := make([]Span, 9)
		touch(func() { spans[8].Limit = 3 })
		Within32(make([]Hit32, 1), make([]uint32, 9), 0, spans)
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
	"votes writes counts": func(touch func(func())) {
		var counts [64]uint64
		touch(func() { counts[63] = 1 })
		Votes(&counts, make([]uint64, 100))
	},
}

// The race detector sees what assembly reads and writes, as the wrappers tell it.
func TestRaceSeen(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name := range races {
		t.Run(name, func(t *testing.T) {
			child := exec.Command(exe, "-test.run=^TestRaceChild$")
			child.Env = append(os.Environ(), envRace+"="+name, envRequire+"=")
			out, err := child.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("WARNING: DATA RACE")) {
				t.Errorf("the race was not seen: %v\n%s", err, out)
			}
		})
	}
}

func TestRaceChild(t *testing.T) {
	race, ok := races[os.Getenv(envRace)]
	if !ok {
		return // run by itself there is nothing to do: TestRaceSeen runs it with a race
	}
	race(func(write func()) {
		go write()
		time.Sleep(50 * time.Millisecond) // it has written by now, in no order that Go knows of
	})
}
