package store

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// ErrFault is wrapped by the errors of [EndFaults]: mapped memory could not be read, because the file was truncated
// or its disk failed. It wraps [ErrCorrupt].
var ErrFault = fmt.Errorf("%w: a mapped file cannot be read any more (truncated, or a disk error)", ErrCorrupt)

// BeginFaults lets [EndFaults] turn a fault on mapped memory into an error. Without it the fault would end the process.
// Call both in each function that reads sections, once per batch of work:
//
//	func (s *Segment) Search(...) (err error) {
//		defer store.EndFaults(store.BeginFaults(), &err)
//
// The error replaces *err and wraps [ErrFault]. Other panics continue. A call covers only the calling goroutine, costs
// about 0.1 us and does not allocate. Calls may be nested. Locks that are taken in between must be released by defer.
// Kernels in assembly are covered, because they call no functions and hold no locks.
func BeginFaults() (previous bool) { return debug.SetPanicOnFault(true) }

// EndFaults ends the section that [BeginFaults] began. previous is the result of BeginFaults. EndFaults must be
// deferred itself.
func EndFaults(previous bool, err *error) {
	p := recover()
	debug.SetPanicOnFault(previous)
	if p == nil {
		return
	}
	fault, ok := p.(interface { // distinguishes a fault from other runtime errors, such as a nil pointer
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		panic(p)
	}
	*err = fmt.Errorf("%w, at address %#x", ErrFault, fault.Addr())
}
