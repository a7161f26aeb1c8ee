package parallel

import "sync/atomic"

// A Limit is the maximum weight of the active items of several queues together. It is safe for concurrent use.
type Limit struct {
	Max  int64 // maximum weight; the first item of each queue is always admitted
	held atomic.Int64
}

// Held returns the weight of the active items.
func (r *Limit) Held() int64 { return r.held.Load() }

// A Queue is a list of items. Goroutines work on them before the caller needs them. Unlike [Ordered] it has no
// goroutine that produces: the caller adds items if there is space. It is used by one goroutine.
type Queue[T any] struct {
	Limit *Limit
	Max   int // maximum number of items

	items []*queueItem[T]
}

type queueItem[T any] struct {
	item   T
	weight int64
	done   chan struct{} // closed after work
}

// Len returns the number of items.
func (q *Queue[T]) Len() int { return len(q.items) }

// Fits reports whether there is space for an item of that weight. An empty queue always has space.
func (q *Queue[T]) Fits(weight int64) bool {
	return len(q.items) == 0 || len(q.items) < q.Max && q.Limit.Held()+weight <= q.Limit.Max
}

// Add adds an item and starts its work. Work returns the new weight of the item.
func (q *Queue[T]) Add(item T, weight int64, work func() int64) {
	i := &queueItem[T]{item, weight, make(chan struct{})}
	q.items = append(q.items, i)
	limit := q.Limit // the queue belongs to its owner's goroutine
	limit.held.Add(weight)
	go func() {
		defer close(i.done)
		i.weight = work()
		limit.held.Add(i.weight - weight)
	}()
}

// First waits until the work on the first item is done, and returns it. The queue must not be empty.
func (q *Queue[T]) First() T {
	<-q.items[0].done
	return q.items[0].item
}

// Remove waits for the first item and removes it. The queue must not be empty.
func (q *Queue[T]) Remove() T {
	item := q.First()
	q.Limit.held.Add(-q.items[0].weight)
	q.items[0] = nil
	q.items = q.items[1:]
	return item
}
