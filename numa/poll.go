package numa

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// pollFor is how long one polls before it sleeps: what falling asleep and
	// waking up cost (BenchmarkHandOver).
	pollFor = 20 * time.Microsecond
	// crowdAfter is how often who polls asks whether others need its processor.
	// Whom a worker has just answered needs one, and takes some microseconds to
	// find it: with 2 us workers gave up at once, and every query woke one.
	crowdAfter = 10 * time.Microsecond
)

// poll looks whether something is so, and says whether it was when it gave up:
// after pollFor, or when goroutines wait for a processor, or at once when half
// of the processors have somebody who polls.
func (h *Host) poll(polling *atomic.Int32, so func() bool) bool {
	if so() {
		return true
	}
	defer polling.Add(-1)
	if int(polling.Add(1)) > runtime.GOMAXPROCS(0)/2 {
		return false
	}
	began := time.Now()
	for next := crowdAfter; next < pollFor; next += crowdAfter {
		for time.Since(began) < next {
			for range 32 {
				if so() {
					return true
				}
			}
		}
		if h.crowded() {
			return false
		}
	}
	return false
}

// crowd is what crowded remembers.
type crowd struct {
	asking atomic.Bool
	answer atomic.Bool
	sample [1]metrics.Sample // of who is asking
}

// crowded reports whether goroutines wait for a processor. It costs 0.1 us, and
// is asked by one at a time: others take the last answer.
func (h *Host) crowded() bool {
	c := &h.crowd
	if c.asking.CompareAndSwap(false, true) {
		c.sample[0].Name = "/sched/goroutines/runnable:goroutines"
		metrics.Read(c.sample[:])
		c.answer.Store(c.sample[0].Value.Kind() == metrics.KindUint64 && c.sample[0].Value.Uint64() > 0)
		c.asking.Store(false)
	}
	return c.answer.Load()
}
