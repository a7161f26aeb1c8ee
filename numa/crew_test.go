package numa

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// thisCPU returns the processor that the calling thread runs on now, and its node.
var thisCPU = func() (cpu, node int, err error) { return 0, 0, errors.ErrUnsupported }

// useCrew submits tasks from several goroutines. A worker of the node runs each of them once.
func useCrew(t *testing.T, h *Host, p UsableNode, workers int) CrewStats {
	t.Helper()
	const tasks, posters = 5000, 4
	var done [tasks]atomic.Int32
	c := NewCrew(h, p, workers, func(pinned bool) func(int) {
		return func(i int) {
			if cpu, _, err := thisCPU(); err == nil && pinned && !slices.Contains(p.CPUs, cpu) {
				t.Errorf("a worker of processors %v runs on %d", p.CPUs, cpu)
			}
			done[i].Add(1)
		}
	})
	var all sync.WaitGroup
	for from := range posters {
		all.Go(func() {
			for i := from; i < tasks; i += posters {
				c.Post(i)
				if i%1000 == 0 {
					time.Sleep(time.Millisecond) // let them fall asleep
				}
			}
		})
	}
	all.Wait()
	c.Close()
	for i := range done {
		if n := done[i].Load(); n != 1 {
			t.Fatalf("task %d was done %d times", i, n)
		}
	}
	s := c.Stats()
	if s.Workers != uint64(workers) || s.Pinned > s.Workers {
		t.Errorf("%+v", s)
	}
	if s.Pinned < s.Workers && !said(h, "sched_setaffinity") {
		t.Errorf("%+v; %q", s, h.Notes())
	}
	return s
}

func TestCrew(t *testing.T) {
	h := New(Options{})
	for _, p := range h.Nodes() {
		for _, workers := range []int{1, 3, 20} {
			s := useCrew(t, h, p, workers)
			t.Logf("node %d: %+v", p.ID, s)
		}
	}
}
