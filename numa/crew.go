package numa

import (
	"sync"
	"sync/atomic"
)

// A Crew is the set of workers of a node. They take tasks from one queue.
type Crew[T any] struct {
	ended   sync.WaitGroup
	workers int
	pinned  atomic.Uint64

	mu     sync.Mutex
	wake   sync.Cond // signals new tasks or the end; its lock is mu
	queue  []T
	closed bool
}

// CrewStats counts the workers of a crew.
type CrewStats struct {
	Workers uint64
	Pinned  uint64 // workers whose thread is pinned
}

// NewCrew starts workers on a node, at least one. Each calls begin once, and then calls the returned function with each
// task. Call Close after the last task was posted.
func NewCrew[T any](h *Host, p UsableNode, workers int, begin func(pinned bool) func(T)) *Crew[T] {
	c := &Crew[T]{workers: max(workers, 1)}
	c.wake.L = &c.mu
	var started sync.WaitGroup
	started.Add(c.workers)
	for range c.workers {
		c.ended.Add(1)
		h.Go(p, func(pinned bool) {
			defer c.ended.Done()
			if pinned {
				c.pinned.Add(1)
			}
			work := begin(pinned)
			started.Done()
			c.run(work)
		})
	}
	started.Wait()
	return c
}

// Post adds tasks to the queue. It is safe for concurrent use and does not block, so the caller must limit the number
// of unfinished tasks.
func (c *Crew[T]) Post(tasks ...T) {
	c.mu.Lock()
	c.queue = append(c.queue, tasks...)
	c.mu.Unlock()
	for range min(len(tasks), c.workers) {
		c.wake.Signal()
	}
}

// Close stops the workers when all tasks are done, and waits for them.
func (c *Crew[T]) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.wake.Broadcast()
	c.ended.Wait()
}

// Stats returns the current counts. It is safe for concurrent use.
func (c *Crew[T]) Stats() CrewStats {
	return CrewStats{uint64(c.workers), c.pinned.Load()}
}

// run works until the crew is closed and the queue is empty.
func (c *Crew[T]) run(work func(T)) {
	for task, ok := c.take(); ok; task, ok = c.take() {
		work(task)
	}
}

// take waits for a task and removes it from the queue. It returns false at the end.
func (c *Crew[T]) take() (task T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.closed {
		c.wake.Wait()
	}
	if len(c.queue) == 0 {
		return task, false
	}
	task = c.queue[0]
	last := copy(c.queue, c.queue[1:])
	clear(c.queue[last:])
	c.queue = c.queue[:last]
	return task, true
}
