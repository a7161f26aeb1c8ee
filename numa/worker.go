package numa

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Go runs f as a worker of a node, and tells it whether its thread is pinned to the node's processors.
//
// The goroutine locks its thread and never unlocks it: the thread ends with
// it, so that its affinity cannot get to other goroutines. (The runtime starts
// no thread from a locked one, so it is not inherited either.) Where the system
// refuses the affinity, the goroutine is like any other. The process's first
// thread, which cannot end and stands for the process in /proc, is not taken.
func (h *Host) Go(p UsableNode, f func(pinned bool)) {
	run := func() { // on a locked thread
		pinned := h.pin(p)
		if !pinned {
			runtime.UnlockOSThread() // nothing of it has changed
		}
		f(pinned)
	}
	go func() {
		runtime.LockOSThread()
		if !firstThread() {
			run()
			return
		}
		elsewhere := make(chan struct{})
		go func() {
			runtime.LockOSThread() // another thread: the first one is taken
			close(elsewhere)
			run()
		}()
		<-elsewhere
		runtime.UnlockOSThread()
	}()
}

// pin pins the calling thread to a node's processors, and reports whether it could.
func (h *Host) pin(p UsableNode) bool {
	if len(p.CPUs) == 0 {
		return false
	}
	err := h.call("sched_setaffinity", func() error { return setAffinity(p.CPUs) })
	if err != nil {
		h.note("affinity", "workers run on any processor: sched_setaffinity: "+err.Error())
	}
	return err == nil
}

// Each calls f with 0 to n-1, once each, from workers of a node, as many as it
// has processors but no more than a few, and waits for all.
func (h *Host) Each(p UsableNode, n int, f func(i int)) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(n, max(len(p.CPUs), 1), eachMax) {
		done.Add(1)
		h.Go(p, func(bool) {
			defer done.Done()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	done.Wait()
}
