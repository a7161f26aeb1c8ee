package numa

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Go runs f as a worker of a node. pinned reports whether its thread is pinned to the processors of the node.
//
// The goroutine locks its thread and never unlocks it. So the thread ends with the goroutine, and no other goroutine
// gets its affinity. (The runtime starts no thread from a locked one, so threads do not inherit it either.) If the
// system refuses the affinity, the goroutine is an ordinary one. Go does not use the first thread of the process: it
// cannot end, and /proc reports its affinity for the process.
func (h *Host) Go(p UsableNode, f func(pinned bool)) {
	run := func() { // on a locked thread
		pinned := h.pin(p)
		if !pinned {
			runtime.UnlockOSThread() // the affinity has not changed
		}
		f(pinned)
	}
	go func() {
		runtime.LockOSThread()
		if !firstThread() {
			run()
			return
		}
		started := make(chan struct{})
		go func() {
			runtime.LockOSThread() // gets another thread, because the first one is locked
			close(started)
			run()
		}()
		<-started
		runtime.UnlockOSThread()
	}()
}

// pin pins the calling thread to the processors of a node, and reports whether this succeeded.
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

// Each calls f once with each number from 0 to n-1, from workers of a node, and waits for all. It uses one worker per
// processor, at most eachMax.
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
