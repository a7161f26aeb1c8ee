package faults

import (
	"context"
	"sync/atomic"
	"testing"
)

// An Ending is a context that is cancelled by the n-th call of Err: work that checks its context
// now and then is stopped at each of these moments in turn.
type Ending struct {
	context.Context
	cancel context.CancelFunc
	after  int64
	calls  atomic.Int64
}

// NewEnding returns a context that is cancelled by the call of Err after the first calls ones, and
// when the test ends.
func NewEnding(t testing.TB, calls int64) *Ending {
	ctx, cancel := context.WithCancel(t.Context())
	return &Ending{Context: ctx, cancel: cancel, after: calls}
}

// Calls returns how often Err was called.
func (e *Ending) Calls() int64 { return e.calls.Load() }

// Err counts the call and returns the error of the context. It may be called from many goroutines.
func (e *Ending) Err() error {
	if e.calls.Add(1) > e.after {
		e.cancel()
	}
	return e.Context.Err()
}
