package parallel

import (
	"context"
	"iter"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Options says how many goroutines work, and how many items there are at a time.
type Options struct {
	Workers int // goroutines that work; 0 or less: as many as there are processors
	Ahead   int // most items that are produced and not yet emitted; 0 or less: 4 for each worker
}

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Ahead <= 0 {
		o.Ahead = 4 * o.Workers
	}
	return o
}

// Produce calls yield with every item, in order. Once yield has returned false no item is taken
// any more. Its context ends with the run.
type Produce[T any] func(ctx context.Context, yield func(T) bool) error

// Work ranges over items until there are no more or it fails. An item is done when the loop goes
// on to the next one. It must not leave the loop without an error: that panics, as somebody
// would wait for the item. Its context ends with the run.
type Work[T any] func(ctx context.Context, items iter.Seq[T]) error

// Ordered calls produce in one goroutine and work in each of o.Workers goroutines, and calls emit in the calling
// goroutine with every item, in the order of their production.
//
// An error of work or emit ends the run at once; one of produce ends it when all items before
// it have been emitted. Ordered returns the cause of ctx, if that has ended, else the error of
// emit, else the first one of work, else that of produce. All its goroutines have ended when it
// returns. It may be called from many goroutines at a time.
func Ordered[T any](ctx context.Context, o Options, produce Produce[T], work Work[T], emit func(T) error) error {
	o = o.withDefaults()
	r := newRun[T](o)
	r.queue = make(chan *slot[T], o.Ahead)
	inner, cancel := context.WithCancel(ctx)
	group := r.start(inner, o.Workers, produce, work)
	ended := func() error {
		cancel()
		return group.Wait()
	}
	defer ended() // where emit panics
	emitErr := r.emit(group.ctx, emit)
	workErr := ended()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case emitErr != nil:
		return emitErr
	case workErr != nil:
		return workErr
	}
	return r.produceErr
}

// Each calls produce and work as [Ordered] does, and has no order: an item is off as soon as it has been worked
// on, whatever came before it.
func Each[T any](ctx context.Context, o Options, produce Produce[T], work Work[T]) error {
	o = o.withDefaults()
	r := newRun[T](o)
	workErr := r.start(ctx, o.Workers, produce, work).Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case workErr != nil:
		return workErr
	}
	return r.produceErr
}

// run is the state of one call.
type run[T any] struct {
	room  chan struct{} // an element for each item that is produced and not yet off
	todo  chan *slot[T] // to any worker
	queue chan *slot[T] // the same items in order, to be emitted; nil: they are not

	produceErr error // to be read when the queue is closed
}

func newRun[T any](o Options) *run[T] {
	return &run[T]{room: make(chan struct{}, o.Ahead), todo: make(chan *slot[T], o.Ahead)}
}

// goroutines are those that produce and work, and their context.
type goroutines struct {
	*errgroup.Group
	ctx context.Context
}

// start begins to produce and to work.
func (r *run[T]) start(ctx context.Context, workers int, produce Produce[T], work Work[T]) goroutines {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		r.produce(ctx, produce)
		return nil
	})
	for range workers {
		group.Go(func() error { return r.work(ctx, work) })
	}
	return goroutines{group, ctx}
}

// A slot is an item on its way.
type slot[T any] struct {
	item T
	done chan struct{} // closed when a worker is done with it; nil: it is not emitted
}

func (r *run[T]) produce(ctx context.Context, produce Produce[T]) {
	defer close(r.todo)
	if r.queue != nil {
		defer close(r.queue)
	}
	r.produceErr = produce(ctx, func(item T) bool {
		select {
		case r.room <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return false
		}
		s := &slot[T]{item: item}
		if r.queue != nil {
			s.done = make(chan struct{})
			r.queue <- s // neither waits: there is room
		}
		r.todo <- s
		return true
	})
}

func (r *run[T]) work(ctx context.Context, work Work[T]) error {
	left := false
	err := work(ctx, func(yield func(T) bool) {
		for s := range r.todo {
			if ctx.Err() != nil {
				return
			}
			if left = !yield(s.item); left {
				return
			}
			if s.done != nil {
				close(s.done)
			} else {
				<-r.room
			}
		}
	})
	if err == nil && left {
		panic("parallel: work left its items without an error")
	}
	return err
}

func (r *run[T]) emit(ctx context.Context, emit func(T) error) error {
	for s := range r.queue {
		select {
		case <-s.done:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return nil // others know why
		}
		if err := emit(s.item); err != nil {
			return err
		}
		<-r.room
	}
	return nil
}
