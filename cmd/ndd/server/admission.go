package server

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/ndd/cmd/ndd/server/admit"
	"example.org/ndd/engine/memory"
)

// admission limits the requests that run at the same time, and their memory.
type admission struct {
	limits                    bounds
	transfers                 *admit.Transfers
	queries, batches, inserts *admit.Gate
	waits                     *prometheus.HistogramVec // waiting times at the gates
}

// newAdmission makes the gates. A query takes a few microseconds. Twice as many queries as processors keep the
// processors busy, and more only lengthen each. A batch uses all processors, and lends its slot while the client
// reads. Inserts wait together for one sync of the disk.
func newAdmission(limits bounds, m *metrics) admission {
	n, queue := runtime.GOMAXPROCS(0), limits.Queue
	return admission{
		limits:    limits,
		waits:     m.waits,
		transfers: admit.NewTransfers(memory.Limit{Bytes: uint64(limits.RequestMemory), Source: "for requests"}),
		queries:   admit.NewGate(admit.Options{Name: "query", Slots: 2 * n, Heavy: n, Places: 1024 * n, WaitMax: queue}),
		batches:   admit.NewGate(admit.Options{Name: "batch", Slots: max(4, n), Places: 64, WaitMax: 10 * queue}),
		inserts:   admit.NewGate(admit.Options{Name: "insert", Slots: 256, Heavy: n, Places: 1024, WaitMax: 10 * queue}),
	}
}

// admit reads the body of a request into a call, and waits until it may run. w.release releases its memory and its
// slot. The context ends at the deadline of the request, or when stop is called.
func (a *admission) admit(w *answer, r *http.Request, to *route, c *call) (ctx context.Context, stop func(), p *problem) {
	c.memory = a.transfers.Begin(w)
	w.slot.memory = c.memory
	ctx, stop = r.Context(), func() {}
	entry := recordOf(ctx)
	if c.payload, entry.read, p = readRequestBody(w, r, to, c.index.Recipe(), &a.limits); p != nil {
		return ctx, stop, p
	}
	w.slot.arrived.Store(true)
	began := time.Now()
	if !to.streams { // a streamed answer takes the time of its reader
		ctx, stop = context.WithDeadline(ctx, began.Add(a.limits.Timeout))
	}
	pass, err := to.gate.Enter(ctx, len(c.body) > heavyBytes)
	entry.waited = time.Since(began)
	if err != nil {
		return ctx, stop, admissionProblem(err)
	}
	if to.gate != nil {
		a.waits.WithLabelValues(to.gate.Name).Observe(entry.waited.Seconds())
	}
	w.slot.pass, w.slot.body, w.slot.admitted = pass, cap(c.body), true
	return ctx, stop, nil
}
