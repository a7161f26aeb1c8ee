package memory

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/dustin/go-humanize"
)

// Program is what the program itself takes whatever it does: code that is written to, stacks,
// the runtime, and a heap of buffers up to the size at which the collector first runs. Of
// commands on next to nothing, 2.5 MiB are there after "ndd version", 3 after a query or a
// scan, 16 after a build, which counts distinct values and draws samples (RssAnon of
// /proc/PID/status, looked at each millisecond, 1 and 2 threads). As much again is for what
// the collector has not taken back yet.
const Program = 32 << 20

// ErrTooLarge is what a [TooLargeError] wraps.
var ErrTooLarge = errors.New("too large for the memory")

// A TooLargeError says that something was refused before it was begun, since
// it would not fit.
type TooLargeError struct {
	What   string // is too large, such as "building"
	Need   uint64 // bytes at most, with those of the program itself where they count
	Limit  Limit  // what there is for that
	Advice string // what to do about it; may be empty
}

func (e *TooLargeError) Error() string {
	s := fmt.Sprintf("%s needs up to %s of memory, and there are %s (%s)",
		e.What, humanize.IBytes(roundUp(e.Need)), humanize.IBytes(e.Limit.Bytes), e.Limit.Source)
	if e.Advice != "" {
		s += ": " + e.Advice
	}
	return s
}

// roundUp returns bytes rounded up to what [humanize.IBytes] writes, so that a limit of as many does.
func roundUp(bytes uint64) uint64 {
	unit := uint64(1)
	for bytes/unit >= 1024 {
		unit *= 1024
	}
	each := float64(unit)
	if bytes < 10*unit {
		each /= 10
	}
	return uint64(math.Ceil(float64(bytes)/each) * each)
}

// Unwrap returns [ErrTooLarge].
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

// Advise returns err with advice in it on what to do where it is a [TooLargeError] that has
// none, and any other error, and nil, as it is. The text around it is lost.
func Advise(err error, advice string) error {
	e, ok := errors.AsType[*TooLargeError](err)
	if !ok || e.Advice != "" {
		return err
	}
	advised := *e
	advised.Advice = advice
	return &advised
}

// A Budget is memory that several tasks share. Each reserves the most that it will take before
// it takes any, and releases that when it has given it back; what does not fit is refused. A
// budget counts: it neither allocates nor frees.
//
// A nil Budget has no limit. A Budget may be used from many goroutines.
type Budget struct {
	limit   Limit
	program uint64 // of the limit

	mu    sync.Mutex
	taken uint64 // of the limit, with the program
}

// NewBudget returns a budget of all that a limit allows.
func NewBudget(l Limit) *Budget { return &Budget{limit: l} }

// ForProgram returns a budget of which the program itself has taken [Program] already. Errors
// add that to the bytes needed, so that the sum compares with the limit.
func ForProgram(l Limit) *Budget { return &Budget{limit: l, program: Program, taken: Program} }

// Here returns b or, where that is nil, a budget of all that this machine has left.
func (b *Budget) Here() *Budget {
	if b == nil {
		return NewBudget(Machine{}.Limit(0))
	}
	return b
}

// Limit returns the limit of the whole budget.
func (b *Budget) Limit() Limit {
	if b == nil {
		return Unlimited
	}
	return b.limit
}

// Left returns how many bytes may still be reserved.
func (b *Budget) Left() uint64 {
	if b == nil {
		return Unlimited.Bytes
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit.Bytes - min(b.taken, b.limit.Bytes)
}

// Total returns bytes with those of the program itself, where the budget counts them: the
// figure for messages about a task that needs bytes.
func (b *Budget) Total(bytes uint64) uint64 {
	if b == nil {
		return bytes
	}
	return b.program + bytes
}

// Reserve takes bytes from the budget for a task, which what names as a message should have it,
// such as "merging 5,000 documents". The error is a [TooLargeError] where less is left.
func (b *Budget) Reserve(what string, bytes uint64) (*Reservation, error) {
	r := &Reservation{budget: b}
	if err := r.Resize(what, bytes); err != nil {
		return nil, err
	}
	return r, nil
}

// Check returns the error that [Budget.Reserve] would return, and reserves nothing.
func (b *Budget) Check(what string, bytes uint64) error {
	r, err := b.Reserve(what, bytes)
	r.Release()
	return err
}

// A Reservation is a part of a budget that a task has taken. It belongs to that task; its methods
// may be called on nil.
type Reservation struct {
	budget *Budget
	bytes  uint64
}

// Bytes returns how many bytes are reserved.
func (r *Reservation) Bytes() uint64 {
	if r == nil {
		return 0
	}
	return r.bytes
}

// Resize changes the reservation to bytes, more or fewer than before. After an error,
// which is a [TooLargeError], it is what it was.
func (r *Reservation) Resize(what string, bytes uint64) error {
	b := r.budget
	if b == nil {
		r.bytes = bytes
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	others := b.taken - r.bytes
	if left := b.limit.Bytes - min(others, b.limit.Bytes); bytes > left {
		there := b.limit
		there.Bytes -= min(others-b.program, there.Bytes)
		return &TooLargeError{What: what, Need: b.program + bytes, Limit: there}
	}
	b.taken = others + bytes
	r.bytes = bytes
	return nil
}

// Release gives the reservation back. It may be called again.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	if b := r.budget; b != nil {
		b.mu.Lock()
		b.taken -= r.bytes
		b.mu.Unlock()
	}
	r.bytes = 0
}
