package faults

import (
	"context"
	"sync/atomic"
	"testing"
)

// An Ending is a context that is cancelled once it has been asked for its error so often: what looks at it
// now and then is stopped at one of these moments after the other.
type Ending struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

// NewEnding is cancelled by the question behind the first asked ones, or when the test ends.
func NewEnding(t testing.TB, asked int64) *Ending {
	ctx, cancel := context.WithCancel(t.Context())
	e := &Ending{Context: ctx, cancel: cancel}
	e.left.Store(asked)
	return e
}

// Err asks. Safe for concurrent use.
func (e *Ending) Err() error {
	if e.left.Add(-1) < 0 {
		e.cancel()
	}
	return e.Context.Err()
}
