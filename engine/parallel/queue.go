package parallel

import "sync/atomic"

// A Room bounds what several queues have under way together. It is safe for concurrent use.
type Room struct {
	Max  int64 // weight, but for the first item of each queue
	held atomic.Int64
}

// Held returns the weight of the items under way.
func (r *Room) Held() int64 { return r.held.Load() }

// A Queue is items in a row that goroutines work on before their turn comes. Unlike [Ordered] it has no
// goroutine that produces: who takes the items adds others when there is room. It belongs to one goroutine.
type Queue[T any] struct {
	Room *Room
	Max  int // items

	items []*queued[T]
}

type queued[T any] struct {
	item   T
	weight int64
	done   chan struct{} // closed when it has been worked on
}

// Len returns the number of items.
func (q *Queue[T]) Len() int { return len(q.items) }

// Fits reports whether there is room for another item of some weight. An empty queue always has it.
func (q *Queue[T]) Fits(weight int64) bool {
	return len(q.items) == 0 || len(q.items) < q.Max && q.Room.Held()+weight <= q.Room.Max
}

// Add adds an item of some weight and has it worked on. Work returns the weight that it has from then on.
func (q *Queue[T]) Add(item T, weight int64, work func() int64) {
	i := &queued[T]{item, weight, make(chan struct{})}
	q.items = append(q.items, i)
	room := q.Room // the queue is its owner's
	room.held.Add(weight)
	go func() {
		defer close(i.done)
		i.weight = work()
		room.held.Add(i.weight - weight)
	}()
}

// First waits until the first item has been worked on, and returns it. There must be one.
func (q *Queue[T]) First() T {
	<-q.items[0].done
	return q.items[0].item
}

// Remove waits for the first item and removes it. There must be one.
func (q *Queue[T]) Remove() T {
	item := q.First()
	q.Room.held.Add(-q.items[0].weight)
	q.items[0] = nil
	q.items = q.items[1:]
	return item
}
