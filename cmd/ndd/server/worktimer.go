package server

import (
	"context"
	"fmt"
	"time"
)

// A workTimer ends a request that has been worked on for too long. It stands while the request waits for its client. Its methods are
// called by one goroutine.
type workTimer struct {
	timer  *time.Timer
	cancel context.CancelFunc
	left   time.Duration
	since  time.Time
}

// A workedTooLong is the cause with which a workTimer ends a context: a [context.DeadlineExceeded] that names the limit.
type workedTooLong time.Duration

// Error says what the limit is.
func (e workedTooLong) Error() string {
	return fmt.Sprintf("the request has been worked on for %v (--timeout): ask for less at a time", time.Duration(e))
}

// Is says that it is what a context with a deadline ends with.
func (workedTooLong) Is(target error) bool { return target == context.DeadlineExceeded }

// workContext returns a context that ends when its timer has run for most.
func workContext(parent context.Context, most time.Duration) (context.Context, *workTimer) {
	ctx, cancel := context.WithCancelCause(parent)
	t := &workTimer{cancel: func() { cancel(nil) }, left: most, since: time.Now()}
	t.timer = time.AfterFunc(most, func() { cancel(workedTooLong(most)) })
	return ctx, t
}

// pause stops the timer until resume.
func (t *workTimer) pause() {
	t.timer.Stop()
	t.left -= time.Since(t.since)
}

// resume lets the timer go on. What was over when it paused ends now.
func (t *workTimer) resume() {
	t.since = time.Now()
	t.timer.Reset(max(t.left, 0))
}

// end stops the timer and ends the context.
func (t *workTimer) end() {
	t.timer.Stop()
	t.cancel()
}
