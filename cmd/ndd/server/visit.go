package server

import (
	"bytes"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/admit"
	"ndd/cmd/ndd/server/conns"
)

// A visit is a request on its way through the server: what is noted of it for the access log and the metrics, and what its
// handlers need, in one piece of memory. It is the request's context, too. It belongs to the request's goroutine; as a
// context it may be used by others.
type visit struct {
	context.Context // of the request as it came
	service         *service
	request         *http.Request
	to              *route // nil until it is known
	began           time.Time
	conn            *conns.Conn // nil in tests of handlers

	client    access.Client
	read      int64         // bytes of the body
	waited    time.Duration // for a slot
	arguments arguments

	body     []byte      // whole, until the answer is written
	lent     bool        // the body is the connection's
	reader   bodyReader  // of it
	writes   atomic.Bool // else it reads, and may still be told that it was too slow
	transfer *admit.Transfer
	response response
	answer   answer

	until time.Time                  // when it ends by itself; the zero time for never
	timer atomic.Pointer[visitTimer] // nil until somebody waits for that
}

// A visitTimer is a context that ends at a visit's time.
type visitTimer struct {
	context.Context
	cancel context.CancelFunc
}

// A bodyReader is a body in memory as a request has it.
type bodyReader struct{ bytes.Reader }

// Close does nothing: the memory is the visit's.
func (*bodyReader) Close() error { return nil }

type visitKey struct{}

// visitOf returns what is noted of a request; outside of observe it is lost.
func visitOf(ctx context.Context) *visit {
	if v, ok := ctx.(*visit); ok {
		return v
	}
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{Context: ctx}
}

// account returns the account of the memory of the request's body and answer, which is opened when there is something to be taken.
func (v *visit) account() *admit.Transfer {
	if v.transfer == nil {
		v.transfer = v.service.transfers.Begin(clientOf(v.request, v.client), v.cutOff)
	}
	return v.transfer
}

// cutOff ends a visit that stands still while others need its memory.
func (v *visit) cutOff() {
	if v.writes.Load() {
		v.conn.Reset()
	} else {
		http.NewResponseController(v.response.ResponseWriter).SetReadDeadline(time.Now())
	}
}

// end gives back what the visit holds.
func (v *visit) end() {
	if t := v.timer.Load(); t != nil {
		t.cancel()
	}
	if v.transfer != nil {
		v.transfer.End()
	}
	if !v.lent {
		keepBuffer(v.body)
	}
	v.body = nil
}

// Value returns what the context has for a key.
func (v *visit) Value(key any) any {
	if key == (visitKey{}) {
		return v
	}
	if t := v.timer.Load(); t != nil {
		return t.Value(key)
	}
	return v.Context.Value(key)
}

// Deadline returns when the visit ends by itself.
func (v *visit) Deadline() (time.Time, bool) {
	if v.until.IsZero() {
		return v.Context.Deadline()
	}
	return v.until, true
}

// Err returns why the visit is over, nil while it is not.
func (v *visit) Err() error {
	if t := v.timer.Load(); t != nil {
		return t.Err()
	}
	if err := v.Context.Err(); err != nil || v.until.IsZero() || time.Now().Before(v.until) {
		return err
	}
	return context.DeadlineExceeded
}

// Done returns a channel that is closed when the visit is over. Only for this a timer is needed.
func (v *visit) Done() <-chan struct{} {
	if v.until.IsZero() {
		return v.Context.Done()
	}
	t := v.timer.Load()
	if t == nil {
		t = new(visitTimer)
		t.Context, t.cancel = context.WithDeadline(v.Context, v.until)
		if !v.timer.CompareAndSwap(nil, t) {
			t.cancel() // another goroutine was first
			t = v.timer.Load()
		}
	}
	return t.Done()
}
