package store

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// ErrFault is wrapped by the errors of [CatchFault]: mapped memory could not be read, because the
// file was truncated while it was mapped or its disk failed. It wraps [ErrCorrupt].
var ErrFault = fmt.Errorf("%w: a mapped file cannot be read any more (truncated, or a disk error)", ErrCorrupt)

// CatchFault turns an access to mapped memory that the system refuses, which would end the process,
// into an error. Call it wherever sections are read, once for each batch of work:
//
//	func (s *Segment) Search(...) (err error) {
//		defer store.CatchFault(&err)()
//
// The error, which replaces *err, wraps [ErrFault]. Other panics pass. A call covers the calling
// goroutine alone and costs about 0.1 us; calls may be nested. Locks taken in between must be
// released by defer. Kernels in assembly are covered, since they call nothing and hold nothing.
func CatchFault(err *error) func() {
	before := BeginFaults()
	return func() { endFaults(before, recover(), err) }
}

// BeginFaults and [EndFaults] are [CatchFault] where a microsecond counts: they allocate nothing.
//
//	defer store.EndFaults(store.BeginFaults(), &err)
func BeginFaults() (before bool) { return debug.SetPanicOnFault(true) }

// EndFaults ends what [BeginFaults] began, of which it is given the result. It must be deferred
// itself.
func EndFaults(before bool, err *error) { endFaults(before, recover(), err) }

// endFaults ends the catching of faults with the recovered value.
func endFaults(before bool, p any, err *error) {
	debug.SetPanicOnFault(before)
	if p == nil {
		return
	}
	fault, ok := p.(interface { // which the panic of a nil pointer, for one, is not
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		panic(p)
	}
	*err = fmt.Errorf("%w, at address %#x", ErrFault, fault.Addr())
}
