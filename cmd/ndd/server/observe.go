package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"ndd/cmd/ndd/server/conns"
)

// observe counts and times requests, logs those that fail by our fault, and
// makes a 500 of a panic, so that it ends its own request only.
func (s *service) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		s.metrics.running.Inc()
		defer conns.Of(r.Context()).Busy()()
		out := &response{ResponseWriter: w}
		v := new(visit)
		r = r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
		defer func() {
			cause := recover()
			if cause != nil && cause != http.ErrAbortHandler {
				s.metrics.panics.Inc()
				s.log.Error("panic in a request", "method", r.Method, "path", r.URL.Path,
					"panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
				if out.status == 0 {
					refusal(http.StatusInternalServerError, "a bug: the server's log has more").write(out)
				} else {
					cause = http.ErrAbortHandler // a half answer must not look whole
				}
			}
			if out.status == 0 {
				out.status = http.StatusOK
			}
			took := time.Since(began)
			s.metrics.running.Dec()
			if s.accessLog != nil {
				s.accessLog.line(r, v, out, took)
			}
			s.metrics.done(r.Pattern, out.status, took)
			s.remember(r.Pattern, out.status, took)
			if out.status >= 500 && s.life.phase() == ready && out.status != http.StatusNotImplemented {
				s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "status", out.status,
					"took", took, "from", r.RemoteAddr)
			} else {
				s.log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", out.status,
					"bytes", out.bytes, "took", took, "from", r.RemoteAddr)
			}
			if cause == http.ErrAbortHandler {
				panic(cause)
			}
		}()
		next.ServeHTTP(out, r)
	})
}

type visitKey struct{}

// visitOf returns what is noted of a request; outside of observe it is lost.
func visitOf(r *http.Request) *visit {
	if v, ok := r.Context().Value(visitKey{}).(*visit); ok {
		return v
	}
	return new(visit)
}

// A response remembers what was answered.
type response struct {
	http.ResponseWriter
	status int // 0 until the header is written
	bytes  int64
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// untouched says whether nothing was sent yet.
func (w *response) untouched() bool { return w.status == 0 }

// Unwrap lets http.ResponseController through.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
