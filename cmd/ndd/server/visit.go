package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/admit"
	"ndd/engine"
)

// A visit is a request on its way through the server: its part of the access log and the metrics,
// and the input of its handler. It is the request's context, too. It belongs to the request's
// goroutine; as a context it may be used by others.
type visit struct {
	context.Context // of the request as it came
	service         *service
	request         *http.Request
	to              *route // nil until it is known
	began           time.Time

	client    access.Client
	noted     noted
	waited    time.Duration // for a slot
	arguments arguments

	received
	writes   atomic.Bool // false while it reads, and may still be answered that it was too slow
	transfer *admit.Transfer
	answer   answer
}

// received is the body of a visit.
type received struct {
	media       string // one of those that the route accepts
	contentType string // the same, with the charset of a document
	encoding    string // as it was sent
	read        int64  // bytes, as they were sent
	reads       bool   // the client was told to send it
	whole       bool   // it was read to its end
	body        []byte // whole, until the answer is written
}

// visitOf returns the visit of a request, whose context it is.
func visitOf(ctx context.Context) *visit { return ctx.(*visit) }

// index returns the index of a request that needs it.
func (v *visit) index() *engine.Index { return v.service.index.Load() }

// account returns the account of the memory of the request, which it opens when it is first needed.
func (v *visit) account() *admit.Transfer {
	if v.transfer == nil {
		v.transfer = v.service.transfers.Begin(clientOf(v.request, v.client), v.cutOff)
	}
	return v.transfer
}

// cutOff ends a visit that makes no progress while others need its memory.
func (v *visit) cutOff() {
	if v.writes.Load() {
		resetConnection(v)
	} else {
		http.NewResponseController(v.answer.ResponseWriter).SetReadDeadline(time.Now())
	}
}

// end releases the memory of the visit.
func (v *visit) end() {
	if v.transfer != nil {
		v.transfer.End()
	}
	v.body = nil
}

// clientOf names the client of a request, with which it shares memory: by its certificate, or else
// by its address, of which an IPv6 client may have a whole /64.
func clientOf(r *http.Request, who access.Client) string {
	if who.Name != "" {
		return "cn:" + who.Name
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip := at.Addr().Unmap()
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p.String()
}

// A route is one endpoint: who may use it, what it accepts, its gate and its handler.
type route struct {
	pattern string      // of http.ServeMux
	least   access.Role // of the client
	accepts []string    // media types of the body, the first one by default; nil: no body is read
	takes   []string    // query parameters
	needs   bool        // the index
	gate    *admit.Gate
	streams bool // the answer is written while it is made

	// One of these handles a request. Make returns an answer to be sent as JSON; serve writes its
	// own.
	make  func(v *visit) (any, *problem)
	serve http.HandlerFunc
}

// observe counts and times requests, logs bugs, and
// makes a 500 of a panic, so that it ends its own request only.
func (s *service) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Context: r.Context(), service: s, began: time.Now()}
		v.answer = answer{ResponseWriter: w, visit: v}
		v.request = r.WithContext(v)
		s.metrics.running.Inc()
		defer v.observed()
		next.ServeHTTP(&v.answer, v.request)
	})
}

// observed is called when a request was answered, or its handler panics.
func (v *visit) observed() {
	cause := recover()
	s, r, out := v.service, v.request, &v.answer
	if cause != nil && cause != http.ErrAbortHandler {
		s.metrics.panics.Inc()
		s.log.Error("panic in a request", "method", r.Method, "path", r.URL.Path,
			"panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		if out.begun {
			cause = http.ErrAbortHandler // a half answer must not look whole
		} else {
			out.status = 0
			refusal(http.StatusInternalServerError, "a bug: the server's log has more").write(out)
		}
	}
	if cause != http.ErrAbortHandler && !out.begun {
		out.begin(0) // an answer without a body
	}
	out.pass.Leave()
	v.end()
	took := time.Since(v.began)
	s.metrics.running.Dec()
	if s.accessLog != nil {
		s.accessLog.line(r, v, took)
	}
	s.metrics.done(r.Pattern, out.status, took)
	if v.to != nil && v.to.least == access.Write && out.status == http.StatusOK && !v.noted.brokenOff {
		s.noticeRoom()
	}
	if out.status == http.StatusInternalServerError {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "status", out.status,
			"took", took, "from", r.RemoteAddr)
	} else if s.log.Enabled(v, slog.LevelDebug) {
		s.log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", out.status,
			"bytes", out.bytes, "took", took, "from", r.RemoteAddr)
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	if out.discards {
		v.discard()
	}
}

// An answer writes the response of a request, and records its status and length. It releases the
// slot of an admitted request before it writes, reserves memory for the response, and writes it in
// pieces, each of which the client must read in time: a slow reader costs the memory of its own
// response, and nothing else.
type answer struct {
	http.ResponseWriter
	visit    *visit
	pass     *admit.Pass
	admitted bool  // its memory is counted
	status   int   // that is to be sent with the first bytes; 0: none was set yet
	begun    bool  // it was sent
	bytes    int64 // that were written
	refused  bool  // there was no memory for the answer: another one was sent
	discards bool  // the rest of the body is to be read after the answer
}

// errRefused is the error of an answer that is made while it is written, and was replaced by a
// refusal.
var errRefused = errors.New("no memory for the answer")

// WriteHeader keeps the status for the first bytes.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// streams reports whether the slot is only lent while the client reads.
func (a *answer) streams() bool { return a.visit.to != nil && a.visit.to.streams }

// Write sends bytes, after those before.
func (a *answer) Write(p []byte) (int, error) {
	if !a.begun {
		a.begin(len(p))
	}
	if a.refused {
		if a.streams() {
			return 0, errRefused // so that no more of it is made
		}
		return len(p), nil
	}
	n := 0
	err := a.lend(func() error {
		transfer := a.visit.transfer
		defer transfer.Waits(false)
		for n < len(p) {
			transfer.Waits(true)
			if len(p) > bodyBytesFirst || a.streams() {
				stall := time.Now().Add(a.visit.service.limits.times.stall)
				http.NewResponseController(a.ResponseWriter).SetWriteDeadline(stall)
			}
			m, err := a.ResponseWriter.Write(p[n:min(n+stallBytes, len(p))])
			n += m
			if err != nil {
				return err
			}
		}
		return nil
	})
	a.bytes += int64(n)
	return n, err
}

// lend releases the slot while f waits for the client: for good, or until f returns if the answer
// is streamed.
func (a *answer) lend(f func() error) error {
	if a.streams() {
		return a.pass.Lend(a.visit, f)
	}
	a.pass.Leave()
	return f()
}

// begin sends the header. It reserves memory for n bytes: an answer that is sent whole replaces the
// memory of the work on it.
func (a *answer) begin(n int) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	a.begun = true
	if a.status >= http.StatusBadRequest && a.visit.sends() {
		a.discards = true
		a.Header().Set("Connection", "close")
		http.NewResponseController(a.ResponseWriter).EnableFullDuplex() // the answer waits for no body
	}
	if a.admitted && (n > bodyBytesFirst || a.visit.transfer != nil) {
		a.lend(func() error {
			account, reserve := a.visit.account(), a.visit.account().Resize
			if a.streams() {
				reserve = account.Grow
			}
			if err := reserve(uint64(n + cap(a.visit.body))); err != nil {
				a.Header().Del("Content-Length")
				a.Header().Del("Trailer")
				p := shed(err)
				a.refused, a.status = true, p.Status
				p.write(a.ResponseWriter)
			}
			return nil
		})
	}
	if !a.refused {
		a.ResponseWriter.WriteHeader(a.status)
	}
}

// Unwrap lets http.ResponseController through.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
