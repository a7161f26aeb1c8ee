package numa

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Crew is the workers of a node. They take tasks from one queue, each as
// many as wait, and so the more there is to do the cheaper is a hand-over.
//
//	Post --> queue --> worker, awake: works, looks again, polls a while, falls asleep
//	              \--> worker, asleep: is woken when none who is awake will look soon
//
// To wake a pinned worker costs two switches of threads, more than a short
// task. So while someone works on short tasks, what is posted waits for that
// one, unless much does.
type Crew[T any] struct {
	host  *Host
	node  UsableNode
	ended sync.WaitGroup
	stats crewStats

	waiting atomic.Int64 // tasks in the queue
	mu      sync.Mutex
	queue   []item[T]
	asleep  []chan struct{} // the last to fall asleep is the first to be woken
	soon    int             // workers who will look at the queue soon
	closed  bool
}

type item[T any] struct {
	task  T
	short bool
}

type crewStats struct{ workers, pinned, tasks, batches, sleeps, looked, away atomic.Uint64 }

// CrewStats counts what a crew has done.
type CrewStats struct {
	Workers uint64
	Pinned  uint64 // of the workers
	Tasks   uint64
	Batches uint64 // in which the tasks were taken
	Sleeps  uint64 // of a worker who had waited in vain
	Looked  uint64 // times that a pinned worker asked on which processor it is,
	Away    uint64 // and it was none of the node's
}

const (
	// batchMax tasks are taken at a time: enough to share the misses of a
	// table, few enough for others to help.
	batchMax = 32
	// backlog short tasks may wait for each worker who will look soon.
	backlog = 16
	// yieldAfter is how long a worker works before it sees whether others need
	// its processor: below what a client notices, above the cost of two
	// switches of threads.
	yieldAfter = time.Millisecond
	// lookEvery batches cost one system call, 0.1 us.
	lookEvery = 64
)

// NewCrew starts so many workers on a node. Each calls begin once, and then calls the function that begin returned
// with tasks; the slice is valid during the call. Close
// the crew when no one posts any more.
func NewCrew[T any](h *Host, p UsableNode, workers int, begin func(*Worker) func([]T)) *Crew[T] {
	c := &Crew[T]{host: h, node: p}
	var begun sync.WaitGroup
	for range max(workers, 1) {
		begun.Add(1)
		c.ended.Add(1)
		h.Go(p, func(w *Worker) {
			defer c.ended.Done()
			c.stats.workers.Add(1)
			if w.Pinned {
				c.stats.pinned.Add(1)
			}
			work := begin(w)
			c.mu.Lock()
			c.soon++
			c.mu.Unlock()
			begun.Done()
			c.run(w, work)
		})
	}
	begun.Wait()
	return c
}

// Post hands a task over, from any goroutine. short says that the task takes some microseconds, so that
// others may wait for it. Post returns true if no worker had to be woken for it. It does not
// block: whoever posts without end must wait for tasks to be done.
func (c *Crew[T]) Post(t T, short bool) (awake bool) {
	c.mu.Lock()
	c.queue = append(c.queue, item[T]{t, short})
	c.waiting.Store(int64(len(c.queue)))
	wake := c.sleeper()
	c.mu.Unlock()
	if wake != nil {
		wake <- struct{}{}
	}
	return wake == nil
}

// sleeper takes one out of those asleep if more are needed; the caller wakes it.
// It needs c.mu.
func (c *Crew[T]) sleeper() (wake chan struct{}) {
	if n := len(c.asleep); n > 0 && (len(c.queue) > backlog*c.soon || c.closed) {
		wake = c.asleep[n-1]
		c.asleep = c.asleep[:n-1]
		c.soon++
	}
	return wake
}

// Close ends the workers when all tasks are done, and waits for them.
func (c *Crew[T]) Close() {
	c.mu.Lock()
	c.closed = true
	for wake := c.sleeper(); wake != nil; wake = c.sleeper() {
		wake <- struct{}{} // has room
	}
	c.mu.Unlock()
	c.ended.Wait()
}

// Stats returns the counts so far. It may be called from any goroutine.
func (c *Crew[T]) Stats() CrewStats {
	s := &c.stats
	return CrewStats{s.workers.Load(), s.pinned.Load(), s.tasks.Load(), s.batches.Load(), s.sleeps.Load(), s.looked.Load(), s.away.Load()}
}

func (c *Crew[T]) run(w *Worker, work func([]T)) {
	batch := make([]T, 0, batchMax)
	wake := make(chan struct{}, 1)
	busySince := time.Now()
	for {
		var short bool
		batch, short = c.take(batch[:0])
		if len(batch) == 0 {
			if c.host.poll(&c.host.idle, func() bool { return c.waiting.Load() > 0 }) {
				continue
			}
			if !c.sleep(wake) {
				return
			}
			busySince = time.Now()
			continue
		}
		c.look(w)
		work(batch)
		clear(batch)
		if !short {
			c.mu.Lock()
			c.soon++
			c.mu.Unlock()
		}
		if time.Since(busySince) > yieldAfter {
			if c.host.crowded() {
				runtime.Gosched()
			}
			busySince = time.Now()
		}
	}
}

// take takes a fair share of what waits. Whoever has got a task that is not
// short does not look again soon: if none else does, another one is woken.
func (c *Crew[T]) take(batch []T) (_ []T, short bool) {
	short = true
	c.mu.Lock()
	n := min(batchMax, len(c.queue), 1+len(c.queue)/max(c.soon, 1))
	for i := range n {
		batch = append(batch, c.queue[i].task)
		short = short && c.queue[i].short
	}
	left := copy(c.queue, c.queue[n:])
	clear(c.queue[left:])
	c.queue = c.queue[:left]
	c.waiting.Store(int64(left))
	if !short {
		c.soon--
	}
	wake := c.sleeper()
	c.mu.Unlock()
	if wake != nil {
		wake <- struct{}{}
	}
	if n > 0 {
		c.stats.batches.Add(1)
		c.stats.tasks.Add(uint64(n))
	}
	return batch, short
}

// sleep waits to be woken; false is the end.
func (c *Crew[T]) sleep(wake chan struct{}) bool {
	c.mu.Lock()
	if len(c.queue) > 0 || c.closed {
		ends := len(c.queue) == 0
		c.mu.Unlock()
		return !ends
	}
	c.soon--
	c.asleep = append(c.asleep, wake)
	c.mu.Unlock()
	c.stats.sleeps.Add(1)
	<-wake
	return true
}

// look counts a worker who is not where it should be: a cpuset that has changed
// moves pinned threads too.
func (c *Crew[T]) look(w *Worker) {
	if !w.Pinned || c.stats.batches.Load()%lookEvery != 1 {
		return
	}
	cpu, _, err := w.CPU()
	if err != nil {
		return
	}
	c.stats.looked.Add(1)
	if !w.Node.has(cpu) {
		c.stats.away.Add(1)
		c.host.note("away", "a worker runs on another node: the process's cpuset has changed since the start")
	}
}
