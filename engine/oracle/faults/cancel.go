package faults

import (
	"context"
	"sync/atomic"
	"testing"
)

// A CancelContext is a context that a call of Err cancels. Tests use it to stop work at each check of its context in
// turn.
type CancelContext struct {
	context.Context
	cancel   context.CancelFunc
	callsMax int64
	calls    atomic.Int64
}

// NewCancelContext returns a context that is cancelled by the call of Err that follows a number of calls, or when the
// test ends.
func NewCancelContext(t testing.TB, calls int64) *CancelContext {
	ctx, cancel := context.WithCancel(t.Context())
	return &CancelContext{Context: ctx, cancel: cancel, callsMax: calls}
}

// Calls returns the number of calls of Err.
func (e *CancelContext) Calls() int64 { return e.calls.Load() }

// Err counts the call and returns the error of the context. It may be called from many goroutines.
func (e *CancelContext) Err() error {
	if e.calls.Add(1) > e.callsMax {
		e.cancel()
	}
	return e.Context.Err()
}
