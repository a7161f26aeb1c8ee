package parallel

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Options sets the numbers of goroutines and items.
type Options struct {
	Workers   int // number of working goroutines; 0 or less: one per processor
	Window    int // maximum number of items of the first part between production and emission; 0 or less: 4 per worker
	Producers int // for [OrderedParts]: number of parts produced at the same time; 0 or less: 1

	// Budget limits the weight of the items before work. Held limits the weight of the items of later parts that wait
	// for the first part. 0 means no limit. The method Weight() int64 of an item returns its weight; without that
	// method the weight is 1. It is called when the item is produced, and again after work. One item of the first
	// part is always admitted.
	Budget, Held int64
}

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Window <= 0 {
		o.Window = 4 * o.Workers
	}
	o.Producers = max(o.Producers, 1)
	return o
}

// Produce calls yield with every item, in order. When yield returns false, it accepts no more items. ctx ends with
// the run.
type Produce[T any] func(ctx context.Context, yield func(T) bool) error

// Work ranges over items until the end or an error. An item is done when the loop continues with the next one.
// Leaving the loop without an error panics, because the caller would wait for the item. ctx ends with the run.
type Work[T any] func(ctx context.Context, items iter.Seq[T]) error

// Ordered calls produce in one goroutine and work in o.Workers goroutines. It calls emit in the calling goroutine
// with every item, in the order of production.
//
// An error of work or emit ends the run at once. An error of produce ends it after all earlier items have been
// emitted. Ordered returns the first that applies: the cause of ctx if ctx has ended, the error of emit, the first
// error of work, the error of produce. All its goroutines have ended when it returns. It is safe for concurrent use.
func Ordered[T any](ctx context.Context, o Options, produce Produce[T], work Work[T], emit func(T) error) error {
	parts := func(yield func(Produce[T]) bool) { yield(produce) }
	return OrderedParts(ctx, o, parts, work, emit)
}

// OrderedParts is [Ordered] for items in parts, such as the files of a corpus. o.Producers parts are produced at the
// same time. Items are emitted in the order of the parts, and within a part in the order of production. A separate
// goroutine ranges over parts.
//
// The first part that is not completely emitted never waits for a later one.
func OrderedParts[T any](ctx context.Context, o Options, parts iter.Seq[Produce[T]], work Work[T],
	emit func(T) error) error {
	return newRun[T](o.withDefaults()).run(ctx, parts, work, emit)
}

// Each calls produce and work like [Ordered], but without order: an item leaves the run after work.
func Each[T any](ctx context.Context, o Options, produce Produce[T], work Work[T]) error {
	parts := func(yield func(Produce[T]) bool) { yield(produce) }
	return newRun[T](o.withDefaults()).run(ctx, parts, work, nil)
}

// partsAhead is the maximum number of parts that are started before the first of them is emitted.
const partsAhead = 256

// run is the state of one call.
type run[T any] struct {
	o     Options       // options of the call
	todo  chan *slot[T] // items for the workers
	parts chan *part[T] // parts to emit, in order; nil: nothing is emitted

	mu         sync.Mutex // protects the fields below, and the fields of parts and slots
	changed    sync.Cond  // signals a change of one of them, or the end of the context
	first      *part[T]   // part that is emitted now, or will be first
	held       int64      // weight of the items of later parts
	todoWeight int64      // weight of the items before work
	produceErr error
}

// A part has the items of one call of a [Produce].
type part[T any] struct {
	produce Produce[T]
	slots   []*slot[T] // slots that are not yet emitted
	todo    int        // number of slots before work
	ended   bool       // produce has returned
	err     error      // error of produce
}

// A slot holds an item during a run.
type slot[T any] struct {
	item   T
	part   *part[T]
	weight int64
	done   bool // a worker has finished it
}

// weigh sets the weight of the item.
func (s *slot[T]) weigh() {
	s.weight = 1
	if w, ok := any(s.item).(interface{ Weight() int64 }); ok {
		s.weight = w.Weight()
	}
}

func newRun[T any](o Options) *run[T] {
	r := &run[T]{o: o, todo: make(chan *slot[T], o.Window)}
	r.changed.L = &r.mu
	return r
}

func (r *run[T]) run(ctx context.Context, parts iter.Seq[Produce[T]], work Work[T], emit func(T) error) error {
	// The end of the context wakes all waiting goroutines.
	cancelled, cancel := context.WithCancel(ctx)
	group, inner := errgroup.WithContext(cancelled)
	context.AfterFunc(inner, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.changed.Broadcast()
	})
	// Start the producers, and close the items when all have ended.
	if emit != nil {
		r.parts = make(chan *part[T], partsAhead)
	}
	queue := make(chan *part[T])
	var producers sync.WaitGroup
	producers.Go(func() { r.list(inner, parts, queue) })
	for range r.o.Producers {
		producers.Go(func() {
			for p := range queue {
				r.produce(inner, p)
			}
		})
	}
	group.Go(func() error {
		producers.Wait()
		close(r.todo)
		return nil
	})
	// Start the workers.
	for range r.o.Workers {
		group.Go(func() error { return r.work(inner, work) })
	}
	// Emit in this goroutine.
	var emitErr error
	if emit != nil {
		defer group.Wait() // if emit panics
		defer cancel()
		emitErr = r.emit(inner, emit)
		cancel()
	}
	// Wait for all goroutines, and return the first error in the documented order.
	workErr := group.Wait()
	cancel()
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

// list passes the parts to the producers and, in order, to emit.
func (r *run[T]) list(ctx context.Context, parts iter.Seq[Produce[T]], queue chan<- *part[T]) {
	defer close(queue)
	if r.parts != nil {
		defer close(r.parts)
	}
	for produce := range parts {
		p := &part[T]{produce: produce}
		if r.parts != nil {
			r.mu.Lock()
			r.first = cmp.Or(r.first, p)
			r.mu.Unlock()
			select {
			case r.parts <- p:
			case <-ctx.Done():
				return
			}
		}
		queue <- p // a producer receives it, soon if the context has ended
	}
}

// produce produces the items of a part.
func (r *run[T]) produce(ctx context.Context, p *part[T]) {
	err := p.produce(ctx, func(item T) bool {
		s := &slot[T]{item: item, part: p}
		if r.parts != nil && !r.admit(ctx, s) {
			return false
		}
		select {
		case r.todo <- s:
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	p.ended, p.err = true, err
	if r.parts == nil {
		r.produceErr = err
	}
	r.changed.Broadcast()
}

// admit adds an item to its part when there is space. It returns false if the context ends first.
func (r *run[T]) admit(ctx context.Context, s *slot[T]) bool {
	s.weigh()
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.fits(s) && ctx.Err() == nil {
		r.changed.Wait()
	}
	if ctx.Err() != nil {
		return false
	}
	s.part.slots = append(s.part.slots, s)
	s.part.todo++
	r.todoWeight += s.weight
	if s.part != r.first {
		r.held += s.weight
	}
	return true
}

// fits reports whether an item may be admitted.
func (r *run[T]) fits(s *slot[T]) bool {
	hasBudget := r.o.Budget == 0 || r.todoWeight+s.weight <= r.o.Budget
	if s.part == r.first {
		return len(s.part.slots) < r.o.Window && (hasBudget || s.part.todo == 0)
	}
	return hasBudget && (r.o.Held == 0 || r.held+s.weight <= r.o.Held)
}

// finish records that a worker has finished an item.
func (r *run[T]) finish(s *slot[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := s.weight
	s.weigh()
	s.done = true
	s.part.todo--
	r.todoWeight -= old
	if s.part != r.first {
		r.held += s.weight - old
	}
	r.changed.Broadcast()
}

func (r *run[T]) work(ctx context.Context, work Work[T]) error {
	abandoned := false
	err := work(ctx, func(yield func(T) bool) {
		for s := range r.todo {
			if ctx.Err() != nil {
				return
			}
			if abandoned = !yield(s.item); abandoned {
				return
			}
			if r.parts != nil {
				r.finish(s)
			}
		}
	})
	if err == nil && abandoned {
		panic("parallel: work left its items without an error")
	}
	return err
}

func (r *run[T]) emit(ctx context.Context, emit func(T) error) error {
	for p := range r.parts {
		r.begin(p)
		for s := r.next(ctx, p); s != nil; s = r.next(ctx, p) {
			if err := emit(s.item); err != nil {
				return err
			}
			r.mu.Lock()
			p.slots[0], p.slots = nil, p.slots[1:]
			r.changed.Broadcast()
			r.mu.Unlock()
		}
		if r.produceErr != nil || ctx.Err() != nil {
			return nil // the caller reports the error
		}
	}
	return nil
}

// begin makes a part the first one.
func (r *run[T]) begin(p *part[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == p { // list has already set the first of all parts
		return
	}
	r.first = p
	for _, s := range p.slots {
		r.held -= s.weight
	}
	r.changed.Broadcast()
}

// next waits for the next item of a part. It returns nil at the end of the part and sets produceErr. It also returns
// nil if the context has ended.
func (r *run[T]) next(ctx context.Context, p *part[T]) *slot[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ctx.Err() == nil {
		if len(p.slots) > 0 && p.slots[0].done {
			return p.slots[0]
		}
		if len(p.slots) == 0 && p.ended {
			r.produceErr = p.err
			return nil
		}
		r.changed.Wait()
	}
	return nil
}
