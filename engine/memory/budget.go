package memory

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/dustin/go-humanize"
)

// Program is the memory of the program itself, for every command: written code, stacks, the runtime, and a heap up to
// the first garbage collection. Commands on tiny inputs use 2.5 MiB for "ndd version", 3 MiB for a query or a scan,
// and 16 MiB for a build, which counts distinct values and draws samples. (RssAnon of /proc/PID/status, sampled every
// millisecond, with 1 and 2 threads.) Program is twice that, for garbage that is not collected yet.
const Program = 32 << 20

// ErrTooLarge is wrapped by [TooLargeError].
var ErrTooLarge = errors.New("too large for the memory")

// A TooLargeError reports that a task was refused before its start, because its memory would exceed the limit.
type TooLargeError struct {
	Task   string // the task, such as "building"
	Need   uint64 // peak memory in bytes, including the program itself if the budget counts it
	Limit  Limit  // available memory
	Advice string // what the user can do; may be empty
}

func (e *TooLargeError) Error() string {
	s := fmt.Sprintf("%s needs up to %s of memory, and there are %s (%s)",
		e.Task, humanize.IBytes(roundUp(e.Need)), humanize.IBytes(e.Limit.Bytes), e.Limit.Source)
	if e.Advice != "" {
		s += ": " + e.Advice
	}
	return s
}

// roundUp rounds bytes up to the precision of [humanize.IBytes], so that the printed number is a sufficient limit.
func roundUp(bytes uint64) uint64 {
	unit := uint64(1)
	for bytes/unit >= 1024 {
		unit *= 1024
	}
	step := float64(unit)
	if bytes < 10*unit {
		step /= 10
	}
	return uint64(math.Ceil(float64(bytes)/step) * step)
}

// Unwrap returns [ErrTooLarge].
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

// Advise adds advice to a [TooLargeError] that has none, and drops the text around it. It returns any other error,
// and nil, unchanged.
func Advise(err error, advice string) error {
	e, ok := errors.AsType[*TooLargeError](err)
	if !ok || e.Advice != "" {
		return err
	}
	advised := *e
	advised.Advice = advice
	return &advised
}

// A Budget is memory that several tasks share. Each task reserves its peak memory before it allocates, and releases
// the reservation after it has freed the memory. Reservations beyond the limit are refused. A budget only counts: it
// neither allocates nor frees.
//
// A nil Budget has no limit. A Budget is safe for concurrent use.
type Budget struct {
	limit   Limit
	program uint64 // part of the limit for the program itself

	mu       sync.Mutex
	reserved uint64 // reserved bytes, including the program
	peak     uint64 // maximum of reserved
}

// NewBudget returns a budget with all memory of a limit.
func NewBudget(l Limit) *Budget { return &Budget{limit: l} }

// ForProgram returns a budget in which [Program] is reserved for the program itself. Errors include the program in
// the required memory, so that it compares with the limit.
func ForProgram(l Limit) *Budget { return &Budget{limit: l, program: Program, reserved: Program} }

// OrMachine returns b. If b is nil, it returns a budget with all available memory of this machine.
func (b *Budget) OrMachine() *Budget {
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

// Free returns the number of bytes that are not reserved.
func (b *Budget) Free() uint64 {
	if b == nil {
		return Unlimited.Bytes
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit.Bytes - min(b.reserved, b.limit.Bytes)
}

// Total returns bytes plus the memory of the program itself, if the budget counts it. Messages about a task show this
// sum.
func (b *Budget) Total(bytes uint64) uint64 {
	if b == nil {
		return bytes
	}
	return b.program + bytes
}

// Peak returns the largest number of bytes that were reserved at the same time, including the program. It is 0 for nil.
func (b *Budget) Peak() uint64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.peak
}

// Reserve reserves bytes for a task. Messages contain task, such as "merging 5,000 documents". It
// returns a [TooLargeError] if less is left.
func (b *Budget) Reserve(task string, bytes uint64) (*Reservation, error) {
	r := &Reservation{budget: b}
	if err := r.Resize(task, bytes); err != nil {
		return nil, err
	}
	return r, nil
}

// Check returns the error of [Budget.Reserve], but reserves nothing.
func (b *Budget) Check(task string, bytes uint64) error {
	r, err := b.Reserve(task, bytes)
	r.Release()
	return err
}

// A Reservation is the part of a budget that one task has reserved. It belongs to that task. Its methods may be
// called on nil.
type Reservation struct {
	budget *Budget
	bytes  uint64
}

// Bytes returns the number of reserved bytes.
func (r *Reservation) Bytes() uint64 {
	if r == nil {
		return 0
	}
	return r.bytes
}

// Resize changes the reservation to bytes. After an error, a [TooLargeError], it is unchanged.
func (r *Reservation) Resize(task string, bytes uint64) error {
	b := r.budget
	if b == nil {
		r.bytes = bytes
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	otherBytes := b.reserved - r.bytes
	if free := b.limit.Bytes - min(otherBytes, b.limit.Bytes); bytes > free {
		available := b.limit
		available.Bytes -= min(otherBytes-b.program, available.Bytes)
		return &TooLargeError{Task: task, Need: b.program + bytes, Limit: available}
	}
	b.reserved = otherBytes + bytes
	b.peak = max(b.peak, b.reserved)
	r.bytes = bytes
	return nil
}

// Release ends the reservation. It may be called again.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	if b := r.budget; b != nil {
		b.mu.Lock()
		b.reserved -= r.bytes
		b.mu.Unlock()
	}
	r.bytes = 0
}
