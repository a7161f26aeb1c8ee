package numa

import (
	"io"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func logTo(w io.Writer) *slog.Logger {
	var mu sync.Mutex
	return slog.New(slog.NewTextHandler(writer(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return w.Write(b)
	}), nil))
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// useCrew hands tasks over from several goroutines: each is done once, by a
// worker of the node.
func useCrew(t *testing.T, h *Host, p UsableNode, workers int) CrewStats {
	t.Helper()
	const tasks, posters = 5000, 4
	var done [tasks]atomic.Int32
	var workersSeen sync.Map
	c := NewCrew(h, p, workers, func(w *Worker) func([]int) {
		return func(list []int) {
			workersSeen.Store(w, true)
			if cpu, _, err := w.CPU(); err == nil && w.Pinned && !slices.Contains(p.CPUs, cpu) {
				t.Errorf("a worker of processors %v runs on %d", p.CPUs, cpu)
			}
			if len(list) == 0 || len(list) > batchMax {
				t.Errorf("%d tasks at a time", len(list))
			}
			for _, i := range list {
				done[i].Add(1)
			}
		}
	})
	var all sync.WaitGroup
	for from := range posters {
		all.Go(func() {
			for i := from; i < tasks; i += posters {
				c.Post(i, i%7 > 0)
				if i%1000 == 0 {
					time.Sleep(2 * pollFor) // let them fall asleep
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
	if s.Tasks != tasks || s.Batches > s.Tasks || s.Workers != uint64(workers) || s.Pinned > s.Workers || s.Away > 0 {
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

// TestYield says that workers who are always busy let others run: with two of them on one
// processor, a goroutine that could run does before they have worked for much longer than
// yieldAfter each. That is counted in calls, of which a loaded machine makes fewer, not more.
func TestYield(t *testing.T) {
	const callTime, workers = yieldAfter / 10, 2
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	h := New(Options{})
	var calls atomic.Int64
	var stop atomic.Bool
	var c *Crew[int]
	ready := make(chan struct{})
	c = NewCrew(h, h.Nodes()[0], workers, func(*Worker) func([]int) {
		return func(list []int) {
			<-ready
			for end := time.Now().Add(callTime); time.Now().Before(end); {
			}
			calls.Add(1)
			for _, task := range list { // there is always something to do
				if !stop.Load() {
					c.Post(task, true)
				}
			}
		}
	})
	close(ready)
	for i := range 4 * batchMax * workers {
		c.Post(i, true)
	}
	var waited []int64
	for range 100 {
		before := calls.Load()
		runtime.Gosched()
		waited = append(waited, calls.Load()-before)
	}
	runtime.GC()
	stop.Store(true)
	c.Close()
	slices.Sort(waited)
	t.Logf("waited for %d calls (median), %d (most), of %d workers", waited[50], waited[99], workers)
	if most := int64(3 * workers * (yieldAfter / callTime)); waited[50] > most {
		t.Errorf("half of the time a goroutine that could run waited for more than %d calls, want at most %d", waited[50], most)
	}
}

// TestLatch waits for tasks that are done before, while and after it polls.
func TestLatch(t *testing.T) {
	h := New(Options{})
	for _, late := range []time.Duration{0, pollFor / 2, 10 * pollFor} {
		var l Latch
		for n := range 50 {
			var done atomic.Int32
			l.Begin(n)
			for range n {
				go func() {
					time.Sleep(late)
					done.Add(1)
					l.Done()
				}()
			}
			l.Wait(h, n%5 > 0)
			if int(done.Load()) != n {
				t.Fatalf("%d of %d are done", done.Load(), n)
			}
		}
	}
}
