package parallel

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/oracle"
)

// TestMain fails if a goroutine of any test does not end.
func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// square is an item that carries its result.
type square struct{ root, is int }

// squares produces the squares of the numbers from start to before end, and fails at failing.
func squares(start, end, failing int, err error) Produce[*square] {
	return func(_ context.Context, yield func(*square) bool) error {
		for of := start; of < end; of++ {
			if of == failing {
				return err
			}
			if !yield(&square{root: of}) {
				return errors.New("nobody takes it")
			}
			if of%7 == 0 {
				runtime.Gosched()
			}
		}
		return nil
	}
}

// endless produces items until yield returns false.
var endless = squares(0, math.MaxInt, -1, nil)

// compute works, and fails at one item.
func compute(failing int, err error) Work[*square] {
	return func(_ context.Context, items iter.Seq[*square]) error {
		for s := range items {
			if s.root == failing {
				return err
			}
			if s.root%3 == 0 {
				runtime.Gosched()
			}
			s.is = s.root * s.root
		}
		return nil
	}
}

// TestEachIsUnordered checks that a slow item delays no other, and that the number of active items is limited.
func TestEachIsUnordered(t *testing.T) {
	var under, maximum atomic.Int64
	others := make(chan struct{})
	var done atomic.Int64
	err := Each(t.Context(), Options{Workers: 3, Window: 3}, squares(0, 100, -1, nil),
		func(_ context.Context, items iter.Seq[*square]) error {
			for s := range items {
				maximum.Store(max(maximum.Load(), under.Add(1)))
				if s.root == 0 {
					select {
					case <-others:
					case <-time.After(time.Minute):
						return errors.New("99 items wait for the first")
					}
				} else if done.Add(1) == 99 {
					close(others)
				}
				under.Add(-1)
			}
			return nil
		})
	if err != nil || maximum.Load() > 3 {
		t.Errorf("%d items under way, %v", maximum.Load(), err)
	}
}

// TestEachErrors ends a run by an error of the producer, after all earlier items, by an error of the work, and by
// the context.
func TestEachErrors(t *testing.T) {
	broken, reason := errors.New("broken"), errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	sum, half := atomic.Int64{}, func() {}
	work := func(_ context.Context, items iter.Seq[*square]) error {
		for s := range items {
			if sum.Add(int64(s.root)); s.root == 50 {
				half()
			}
		}
		return nil
	}
	if err := Each(ctx, Options{Workers: 2}, squares(0, 101, 100, broken), work); !errors.Is(err, broken) ||
		sum.Load() != 99*100/2 {
		t.Errorf("produce: %v after a sum of %d", err, sum.Load())
	}
	if err := Each(ctx, Options{Workers: 2}, endless, compute(50, broken)); !errors.Is(err, broken) {
		t.Errorf("work: %v", err)
	}
	half = func() { cancel(reason) }
	if err := Each(ctx, Options{Workers: 2}, endless, work); !errors.Is(err, reason) {
		t.Errorf("context: %v", err)
	}
}

// TestWindowLimit checks that exactly the allowed number of items is produced before the first is emitted.
func TestWindowLimit(t *testing.T) {
	for _, ahead := range []int{1, 2, 5} {
		var produced, emitted, most atomic.Int64
		full := make(chan struct{})
		err := Ordered(t.Context(), Options{Workers: 3, Window: ahead}, func(_ context.Context, yield func(int) bool) error {
			for i := range 200 {
				yield(i) // blocks until the budget has space
				now := produced.Add(1)
				most.Store(max(most.Load(), now-emitted.Load()))
				if now == int64(ahead) {
					close(full)
				}
			}
			return nil
		}, func(_ context.Context, items iter.Seq[int]) error {
			for range items {
			}
			return nil
		}, func(i int) error {
			<-full
			if i%50 == 0 {
				time.Sleep(5 * time.Millisecond) // time for wrong items to arrive
			}
			emitted.Add(1)
			return nil
		})
		// An item counts as emitted shortly before the next one is admitted.
		if err != nil || most.Load() > int64(ahead) {
			t.Errorf("%d items where at most %d may be, %v", most.Load(), ahead, err)
		}
	}
}

// TestErrors returns each kind of error early, after all goroutines have ended.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	reason := errors.New("interrupted")
	for _, workers := range []int{1, 4} {
		for name, c := range map[string]struct {
			produce Produce[*square]
			work    Work[*square]
			emit    int // fails at this item
			cancel  int // the context ends with this item
			want    error
			emitted [2]int // least and most
		}{
			"produce":       {squares(0, 101, 100, broken), compute(-1, nil), -1, -1, broken, [2]int{100, 100}},
			"produce none":  {squares(0, 1, 0, broken), compute(-1, nil), -1, -1, broken, [2]int{0, 0}},
			"work":          {squares(0, 10_000, -1, nil), compute(50, broken), -1, -1, broken, [2]int{0, 50}},
			"work for ever": {endless, compute(50, broken), -1, -1, broken, [2]int{0, 50}},
			"work at once": {endless, func(context.Context, iter.Seq[*square]) error { return broken }, -1, -1, broken,
				[2]int{0, 0}},
			"emit":           {squares(0, 10_000, -1, nil), compute(-1, nil), 50, -1, broken, [2]int{50, 50}},
			"emit for ever":  {endless, compute(-1, nil), 50, -1, broken, [2]int{50, 50}},
			"context":        {endless, compute(-1, nil), -1, 50, reason, [2]int{51, 51}},
			"context, first": {endless, compute(-1, nil), 50, 50, reason, [2]int{50, 50}},
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			emitted, active := 0, atomic.Int64{}
			work := func(ctx context.Context, items iter.Seq[*square]) error {
				defer active.Add(-1)
				active.Add(1)
				return c.work(ctx, items)
			}
			err := Ordered(ctx, Options{Workers: workers}, c.produce, work, func(s *square) error {
				if s.root == c.cancel {
					cancel(reason)
				}
				if s.root == c.emit {
					return broken
				}
				emitted++
				return nil
			})
			cancel(nil)
			if !errors.Is(err, c.want) || emitted < c.emitted[0] || emitted > c.emitted[1] || active.Load() != 0 {
				t.Errorf("%s, %d workers: %v after %d items, %d workers are left", name, workers, err, emitted, active.Load())
			}
		}
	}
}

// TestContextOfParts checks that producers and workers see the end of the run in their context.
func TestContextOfParts(t *testing.T) {
	broken := errors.New("broken")
	wait := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Minute):
			return errors.New("nobody said that it is over")
		}
	}
	err := Ordered(t.Context(), Options{Workers: 2}, func(ctx context.Context, yield func(int) bool) error {
		yield(0)
		yield(1)
		return wait(ctx)
	}, func(ctx context.Context, items iter.Seq[int]) error {
		for i := range items {
			if i == 1 {
				return wait(ctx)
			}
		}
		return nil
	}, func(int) error { return broken })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestPanic passes on a panic of emit, and leaves no goroutine.
func TestPanic(t *testing.T) {
	var active atomic.Int64
	defer func() {
		if p := recover(); p != "broken" || active.Load() != 0 {
			t.Errorf("%v, %d workers are left", p, active.Load())
		}
	}()
	Ordered(t.Context(), Options{Workers: 3}, endless, func(ctx context.Context, items iter.Seq[*square]) error {
		defer active.Add(-1)
		active.Add(1)
		return compute(-1, nil)(ctx, items)
	}, func(*square) error { panic("broken") })
}

// TestAbandonedItems panics if a worker leaves its loop without an error. Otherwise the caller would wait for ever.
func TestAbandonedItems(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(string), "left its items") {
			t.Error(p)
		}
	}()
	r := newRun[int](Options{Window: 1})
	r.todo <- new(slot[int])
	r.work(t.Context(), func(_ context.Context, items iter.Seq[int]) error {
		for range items {
			break
		}
		return nil
	})
}

// inParts produces n squares in parts. Part i has i squares, but the last may have fewer. A part fails at failing.
func inParts(n int, failing int, err error) iter.Seq[Produce[*square]] {
	return func(yield func(Produce[*square]) bool) {
		for i, from := 0, 0; from < n; i++ {
			to := min(from+i, n)
			if !yield(squares(from, to, failing, err)) {
				return
			}
			from = to
		}
	}
}

// TestOrder emits every item once, in order, with its result, for any number of workers and parts. An error of a
// part follows all earlier items.
func TestOrder(t *testing.T) {
	broken := errors.New("broken")
	for _, o := range []Options{{}, {Workers: 1, Window: 1}, {Workers: 3, Window: 2}, {Workers: 16, Window: 100},
		{Workers: 1, Window: 1, Producers: 2, Held: 1}, {Workers: 3, Window: 2, Producers: 3, Held: 1},
		{Workers: 4, Producers: 8, Held: 1000}, {Workers: 2, Window: 50, Producers: 2}} {
		for n, failing := range map[int]int{0: -1, 1: 0, 2: -1, 2000: -1, 2001: 500, 2002: 1999} {
			next := 0
			err := OrderedParts(t.Context(), o, inParts(n, failing, broken), compute(-1, nil), func(s *square) error {
				if s.root != next || s.is != next*next {
					return fmt.Errorf("%+v where %d was due", *s, next)
				}
				next++
				return nil
			})
			want := n
			if failing >= 0 {
				want = failing
			}
			if next != want || failing < 0 && err != nil || failing >= 0 && !errors.Is(err, broken) {
				t.Errorf("%+v, failing at %d: %d of %d items, %v", o, failing, next, n, err)
			}
		}
	}
}

// TestLaterParts produces later parts while the first part is blocked, up to the limit.
func TestLaterParts(t *testing.T) {
	const held = 40
	var later atomic.Int64
	enough := make(chan struct{})
	parts := func(yield func(Produce[*square]) bool) {
		first := func(ctx context.Context, yield func(*square) bool) error {
			select {
			case <-enough:
			case <-time.After(time.Minute):
				return errors.New("no later part is produced")
			}
			yield(&square{root: 0})
			return nil
		}
		goOn := yield(first)
		for i := 1; i < 100 && goOn; i++ {
			goOn = yield(func(ctx context.Context, yield func(*square) bool) error {
				for range 10 {
					if !yield(&square{root: i}) {
						return nil
					}
					if later.Add(1) == held {
						time.AfterFunc(20*time.Millisecond, func() { close(enough) })
					}
				}
				return nil
			})
		}
	}
	next, most := 0, int64(0)
	err := OrderedParts(t.Context(), Options{Workers: 2, Producers: 2, Held: held}, parts, compute(-1, nil),
		func(s *square) error {
			if next == 0 {
				most = later.Load()
			}
			next++
			return nil
		})
	if err != nil || next != 991 || most != held {
		t.Errorf("%d items, %d before the first, %v", next, most, err)
	}
}

// heavy is an item that exceeds every budget by itself.
type heavy struct{}

func (*heavy) Weight() int64 { return 1000 }

// TestBudgetExceeded emits items that are each heavier than the budget, one after the other.
func TestBudgetExceeded(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	part := func(_ context.Context, yield func(*heavy) bool) error {
		for range 5 {
			if !yield(new(heavy)) {
				return errors.New("nobody takes it")
			}
		}
		return nil
	}
	n := 0
	var now atomic.Int64 // items that are worked on
	var beside atomic.Bool
	err := OrderedParts(ctx, Options{Workers: 2, Producers: 2, Budget: 10, Held: 10},
		slices.Values([]Produce[*heavy]{part, part}),
		func(_ context.Context, items iter.Seq[*heavy]) error {
			for range items {
				if now.Add(1) > 1 {
					beside.Store(true)
				}
				time.Sleep(time.Millisecond)
				now.Add(-1)
			}
			return nil
		}, func(*heavy) error { n++; return nil })
	if err != nil || n != 10 || beside.Load() {
		t.Errorf("%d of 10 items, %v; two at a time: %v", n, err, beside.Load())
	}
}
