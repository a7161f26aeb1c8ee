package mapreduce_test

import (
	"errors"
	"strings"
	"testing"

	"ndd/engine/mapreduce"
	"ndd/engine/memory"
	"ndd/engine/oracle/sets"
)

var paper = mapreduce.Cluster{Nodes: 200, Slots: 1, Memory: 1 << 30, ReadBytes: 100e6, ShuffleRate: 100e6, JobStart: 20, TaskStart: 2}

// TestEstimateScan: chunks and waves are counted exactly, and more of anything never takes less.
func TestEstimateScan(t *testing.T) {
	e, err := mapreduce.EstimateScan(8_000_000_000, 3, 1_000_000, 1, paper)
	if err != nil {
		t.Fatal(err)
	}
	if e.Chunks != 954 || e.Waves != 5 || e.Passes != 1 || e.Read != 64e9 || e.SideFile != 1600e6 || e.TaskBytes > paper.Memory {
		t.Errorf("%+v", e)
	}
	if e.Seconds < 20 || e.Seconds > 100 {
		t.Errorf("%.1f s; the paper took 100", e.Seconds)
	}
	small := paper
	small.Memory = 250 << 20
	more, err := mapreduce.EstimateScan(8_000_000_000, 3, 10_000_000, 1, small)
	if err != nil || more.Passes < 2 || more.Waves != 5*uint64(more.Passes) || more.Seconds < e.Seconds || more.TaskBytes > small.Memory {
		t.Errorf("%v: %+v", err, more)
	}
	small.Memory = 1 << 20
	if _, err := mapreduce.EstimateScan(8_000_000_000, 3, 1_000_000, 1, small); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("1 MiB for a task: %v", err)
	}
}

// TestEstimatePairs: the shuffle of the job carries what the model says, within a twentieth, and that is
// within 1.4 of the entropy: text has 6 bits a byte.
func TestEstimatePairs(t *testing.T) {
	const n = 300_000
	e, err := mapreduce.EstimatePairs(n, 3, paper)
	if err != nil {
		t.Fatal(err)
	}
	out, err := step(t, mapOf(mapreduce.Pairs{K: 3, Bits: e.Bits}), strings.NewReader(printLines(sets.Uniform(n, 1))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(len(out)); got < 0.95*float64(e.Shuffle) || got > 1.05*float64(e.Shuffle) {
		t.Errorf("the shuffle has %.0f bytes, the model says %d", got, e.Shuffle)
	}
	if float64(e.Shuffle) > 1.4*float64(e.Entropy) {
		t.Errorf("%d bytes for an entropy of %d", e.Shuffle, e.Entropy)
	}
	// Where a group of the fewest tables does not fit, more bits, and then more tables, make it smaller.
	small := paper
	small.Memory = 512 << 20
	for _, n := range []uint64{1e9, 1e11, 1e12} {
		e, err := mapreduce.EstimatePairs(n, 3, small)
		if err != nil || e.TaskBytes > small.Memory {
			t.Errorf("n=%d: %v, %+v", n, err, e)
		}
		if err := (mapreduce.Pairs{K: 3, Design: e.Design, Bits: e.Bits}).Check(); err != nil {
			t.Errorf("n=%d: %v", n, err)
		}
	}
}
