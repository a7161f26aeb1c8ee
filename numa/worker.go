package numa

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A Worker is a goroutine that belongs to a node.
type Worker struct {
	Node   UsableNode
	Pinned bool // to the node's processors, on a thread of its own
	host   *Host
}

// Go runs f as a worker of a node.
//
// The goroutine locks its thread and never unlocks it: the thread ends with
// it, so that its affinity cannot get to other goroutines. (The runtime starts
// no thread from a locked one, so it is not inherited either.) Where the system
// refuses the affinity, the goroutine is like any other. The process's first
// thread, which cannot end and stands for the process in /proc, is not taken.
func (h *Host) Go(p UsableNode, f func(*Worker)) {
	w := &Worker{Node: p, host: h}
	go func() {
		runtime.LockOSThread()
		if !h.calls.firstThread() {
			w.run(f)
			return
		}
		elsewhere := make(chan struct{})
		go func() {
			runtime.LockOSThread() // another thread: the first one is taken
			close(elsewhere)
			w.run(f)
		}()
		<-elsewhere
		runtime.UnlockOSThread()
	}()
}

// run needs a locked thread.
func (w *Worker) run(f func(*Worker)) {
	w.Pinned = w.pin()
	if !w.Pinned {
		runtime.UnlockOSThread() // nothing of it has changed
	}
	f(w)
}

func (w *Worker) pin() bool {
	if len(w.Node.CPUs) == 0 {
		return false
	}
	err := w.host.fails("sched_setaffinity")
	if err == nil {
		err = w.host.calls.affinity(w.Node.CPUs)
	}
	if err != nil {
		w.host.note("affinity", "workers run on any processor: sched_setaffinity: "+err.Error())
		return false
	}
	return true
}

// Each calls f with 0 to n-1, once each, from workers of a node, as many as it
// has processors but no more than a few, and waits for all.
func (h *Host) Each(p UsableNode, n int, f func(i int)) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(n, max(len(p.CPUs), 1), eachMax) {
		done.Add(1)
		h.Go(p, func(*Worker) {
			defer done.Done()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	done.Wait()
}
