package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"example.org/ndd/cmd/ndd/server/access"
)

// An observer counts, times and logs requests.
type observer struct {
	metrics   *metrics
	log       *slog.Logger
	accessLog *slog.Logger  // nil: none
	stall     time.Duration // limit for sending each piece of an answer
}

// observe counts, times and logs requests. It answers a panic with status 500, so a panic ends only its own request.
func (s *observer) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		entry := new(record)
		out := &answer{ResponseWriter: w, upload: upload{ReadCloser: r.Body}, stall: s.stall}
		r = r.WithContext(context.WithValue(r.Context(), recordKey{}, entry))
		out.upload.request = r
		r.Body = &out.upload
		defer func() {
			cause := s.complete(r, out, recover())
			took := time.Since(began)
			if s.accessLog != nil {
				logAccess(s.accessLog, r, entry, out, took)
			}
			s.metrics.done(r.Pattern, out.status, took)
			s.logFinished(r, out, took)
			if cause != nil {
				panic(cause)
			}
			if out.discards {
				out.upload.discard(w)
			}
		}()
		next.ServeHTTP(out, r)
	})
}

// complete ends the answer of a request after its handler returned or panicked with a cause. It returns the cause if
// the connection must be closed, because a partial answer must not look complete.
func (s *observer) complete(r *http.Request, out *answer, cause any) any {
	if cause != nil && cause != http.ErrAbortHandler {
		s.metrics.panics.Inc()
		s.log.Error("panic in a request", "method", r.Method, "path", r.URL.Path,
			"panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		if out.hasBegun {
			return http.ErrAbortHandler
		}
		out.status = 0
		newProblem(http.StatusInternalServerError, "a bug: the server's log has more").write(out)
		return nil
	}
	if cause == nil && !out.hasBegun {
		out.begin(0) // an answer without a body
	}
	return cause
}

// logFinished logs a failed request, and with the level debug every request.
func (s *observer) logFinished(r *http.Request, out *answer, took time.Duration) {
	if out.status == http.StatusInternalServerError {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "status", out.status,
			"took", took, "from", r.RemoteAddr)
	} else if s.log.Enabled(r.Context(), slog.LevelDebug) {
		s.log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", out.status,
			"bytes", out.bytes, "took", took, "from", r.RemoteAddr)
	}
}

// newAccessLog returns a log that writes a line of JSON for each request.
func newAccessLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, attribute slog.Attr) slog.Attr {
		if attribute.Key == slog.LevelKey || attribute.Key == slog.MessageKey {
			return slog.Attr{}
		}
		return attribute
	}}))
}

// A record has the data of a request for the access log, except for the response.
type record struct {
	role   access.Role
	read   int           // bytes of the body, as sent
	waited time.Duration // waiting time at a gate
	effect effect
}

type recordKey struct{}

// recordOf returns the record of the request of a context, which belongs to the request's goroutine.
func recordOf(ctx context.Context) *record { return ctx.Value(recordKey{}).(*record) }

// logAccess writes the line of a request.
func logAccess(log *slog.Logger, r *http.Request, rec *record, out *answer, took time.Duration) {
	args := []any{"from", r.RemoteAddr, "method", r.Method, "path", r.URL.Path, "status", out.status, "read", rec.read,
		"written", out.bytes,
		"took_us", took.Microseconds(), "waited_us", rec.waited.Microseconds(), "role", rec.role.String()}
	switch n := &rec.effect; {
	case n.documents == 1:
		args = append(args, "id", n.id, "outcome", n.outcome)
	case n.documents > 1:
		args = append(args, "documents", n.documents, "changed", n.changed)
	}
	if agent := r.UserAgent(); agent != "" {
		args = append(args, "agent", agent)
	}
	log.Info("", args...)
}
