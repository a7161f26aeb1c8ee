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
// worker of the place.
func useCrew(t *testing.T, h *Host, p Place, workers int) CrewStats {
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
	for _, p := range h.Places() {
		for _, workers := range []int{1, 3, 20} {
			s := useCrew(t, h, p, workers)
			t.Logf("node %d: %+v", p.Node.ID, s)
		}
	}
}

// TestYield says that workers who are always busy let others run: with as many
// of them as there are processors, and more, a goroutine that sleeps a little
// wakes up in time.
func TestYield(t *testing.T) {
	h := New(Options{})
	p := h.Places()[0]
	stop := make(chan struct{})
	c := NewCrew(h, p, 2*runtime.GOMAXPROCS(0), func(*Worker) func([]int) {
		return func([]int) {
			for end := time.Now().Add(100 * time.Microsecond); time.Now().Before(end); {
			}
		}
	})
	var posters sync.WaitGroup
	for range 2 {
		posters.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					c.Post(1, true)
					time.Sleep(50 * time.Microsecond)
				}
			}
		})
	}
	var late []time.Duration
	for range 100 {
		at := time.Now()
		time.Sleep(time.Millisecond)
		late = append(late, time.Since(at)-time.Millisecond)
	}
	runtime.GC()
	close(stop)
	posters.Wait()
	c.Close()
	slices.Sort(late)
	t.Logf("late by %v (median), %v (worst)", late[50], late[99])
	if late[50] > 100*time.Millisecond {
		t.Errorf("half of the sleeps were %v late", late[50])
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
