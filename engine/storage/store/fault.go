package store

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// ErrFault is what an error wraps when mapped memory could not be read: the
// file was truncated while it was mapped, or its disk failed. It wraps
// [ErrCorrupt]: what was there is no longer.
var ErrFault = fmt.Errorf("%w: a mapped file cannot be read any more (truncated, or a disk error)", ErrCorrupt)

// CatchFault makes an access to mapped memory that the system refuses an
// error, where it would end the process. Use it around everything that reads
// sections, once for each batch of work:
//
//	func (s *Segment) Search(...) (err error) {
//		defer store.CatchFault(&err)()
//
// The error, which replaces *err, wraps [ErrFault]. Other panics pass. It is
// about the calling goroutine alone, and costs about 0.1 us; it may be nested.
// Locks taken in between must be released by defer. Kernels in assembly are
// covered, since they call nothing and hold nothing.
func CatchFault(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			at, ok := faultAddress(p)
			if !ok {
				panic(p)
			}
			*err = fmt.Errorf("%w, at address %#x", ErrFault, at)
		}
	}
}

// faultAddress is where a fault happened; ok is false when p is another panic,
// a nil pointer's among them.
func faultAddress(p any) (address uintptr, ok bool) {
	e, ok := p.(runtime.Error)
	if !ok {
		return 0, false
	}
	var fault interface{ Addr() uintptr }
	if !errors.As(e, &fault) {
		return 0, false
	}
	return fault.Addr(), true
}
