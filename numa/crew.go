package numa

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Crew is the workers of a place. They take tasks from one queue, each as
// many as wait, and so the more there is to do the cheaper is a hand-over.
//
//	Post --> queue --> worker: polls a while, then sleeps
//	              \--> worker: has up to batchMax tasks
type Crew[T any] struct {
	host  *Host
	place Place
	tasks chan T
	ended sync.WaitGroup
	stats crewStats
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
	Away    uint64 // and it was none of the place's
}

const (
	// queueMax tasks wait before Post does.
	queueMax = 1024
	// batchMax tasks are taken at a time: enough to share the misses of a
	// table, few enough for others to help.
	batchMax = 32
	// pollFor is how long a worker polls before it sleeps: what falling asleep
	// and waking up cost (BenchmarkHandOver).
	pollFor = 20 * time.Microsecond
	// yieldAfter is how long a worker works before it lets others have its
	// processor: below what a client notices, above the cost of two switches
	// of threads.
	yieldAfter = time.Millisecond
)

// NewCrew starts so many workers. begin is called by each, and returns what
// that worker then calls with tasks; the slice is valid during the call. Close
// the crew when no one posts any more.
func NewCrew[T any](h *Host, p Place, workers int, begin func(*Worker) func([]T)) *Crew[T] {
	c := &Crew[T]{host: h, place: p, tasks: make(chan T, queueMax)}
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
			begun.Done()
			c.run(w, work)
		})
	}
	begun.Wait()
	return c
}

// Post hands a task over; it waits while many others do.
func (c *Crew[T]) Post(t T) { c.tasks <- t }

// TryPost is Post for a caller who must not wait, as the crew's own workers.
func (c *Crew[T]) TryPost(t T) bool {
	select {
	case c.tasks <- t:
		return true
	default:
		return false
	}
}

// Waiting is how many tasks no worker has taken yet.
func (c *Crew[T]) Waiting() int { return len(c.tasks) }

// Close ends the workers when all tasks are done, and waits for them.
func (c *Crew[T]) Close() {
	close(c.tasks)
	c.ended.Wait()
}

// Stats are the counts so far.
func (c *Crew[T]) Stats() CrewStats {
	s := &c.stats
	return CrewStats{s.workers.Load(), s.pinned.Load(), s.tasks.Load(), s.batches.Load(), s.sleeps.Load(), s.looked.Load(), s.away.Load()}
}

func (c *Crew[T]) run(w *Worker, work func([]T)) {
	batch := make([]T, 0, batchMax)
	busySince := time.Now()
	for {
		first, ok := c.poll()
		if !ok {
			c.stats.sleeps.Add(1)
			if first, ok = <-c.tasks; !ok {
				return
			}
			busySince = time.Now()
		}
		// A fair share of what waits: others have hands too.
		most := min(batchMax, 1+len(c.tasks)/int(c.stats.workers.Load()))
		batch = append(batch[:0], first)
	more:
		for len(batch) < most {
			select {
			case t, ok := <-c.tasks:
				if !ok {
					break more
				}
				batch = append(batch, t)
			default:
				break more
			}
		}
		c.stats.batches.Add(1)
		c.stats.tasks.Add(uint64(len(batch)))
		c.look(w)
		work(batch)
		clear(batch)
		if now := time.Now(); now.Sub(busySince) > yieldAfter {
			runtime.Gosched()
			busySince = time.Now()
		}
	}
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
	if !w.Place.has(cpu) {
		c.stats.away.Add(1)
		c.host.note("away", "a worker runs on another node: the process's cpuset has changed since the start")
	}
}

// lookEvery batches cost one system call, 0.1 us.
const lookEvery = 64

// poll takes a task that waits, or comes soon. No more than half of the
// processors poll at a time.
func (c *Crew[T]) poll() (t T, ok bool) {
	select {
	case t, ok = <-c.tasks:
		return t, ok
	default:
	}
	if int(c.host.polling.Add(1)) <= runtime.GOMAXPROCS(0)/2 {
		for end := time.Now().Add(pollFor); ; {
			for range 64 {
				if len(c.tasks) > 0 {
					c.host.polling.Add(-1)
					select {
					case t, ok = <-c.tasks:
					default:
					}
					return t, ok
				}
			}
			if time.Now().After(end) {
				break
			}
		}
	}
	c.host.polling.Add(-1)
	return t, false
}
