package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/conns"
)

// observe counts and times requests, logs bugs, and
// makes a 500 of a panic, so that it ends its own request only.
func (s *service) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Context: r.Context(), service: s, began: time.Now()}
		v.conn, v.response.ResponseWriter = conns.Of(v.Context), w
		v.request = r.WithContext(v)
		s.metrics.running.Inc()
		v.conn.Busy()
		defer v.observed()
		next.ServeHTTP(&v.response, v.request)
	})
}

// observed is called when a request was answered, or its handler panics.
func (v *visit) observed() {
	cause := recover()
	s, r, out := v.service, v.request, &v.response
	defer v.conn.Idle()
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
	now := time.Now()
	took := now.Sub(v.began)
	s.metrics.running.Dec()
	if s.accessLog != nil {
		s.accessLog.line(r, v, took)
	}
	s.metrics.done(v.to, r.Pattern, out.status, took)
	s.remember(now, r.Pattern, out.status, took)
	if v.to != nil && v.to.least == access.Write && out.status == http.StatusOK {
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
