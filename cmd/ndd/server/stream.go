package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// A rowStream is an answer that is written while it is made. Write returns the number of its rows.
type rowStream struct {
	media string
	write func(context.Context, io.Writer) (rows int, err error)
}

// rowsTrailer is the trailer of a whole answer with the number of its rows. An answer that was cut
// off has none, and its connection is reset, which HTTP/1.0 shows, too.
const rowsTrailer = "Ndd-Rows"

// send sends a stream. Once it has begun, an error can only cut it off: the client sees a chunked body
// without its end. The time that the client takes to read does not count towards max.
func (s *condition) send(w *answer, r *http.Request, rows *rowStream, max time.Duration) *problem {
	w.Header().Set("Content-Type", rows.media)
	w.Header().Set("Trailer", rowsTrailer)
	ctx, timed, stop := workContext(r.Context(), w, max)
	defer stop()
	written, err := rows.write(ctx, timed)
	if err != nil {
		return s.cutOff(w, r, err)
	}
	w.Header().Set(rowsTrailer, strconv.Itoa(written))
	return nil
}

// cutOff ends an answer that failed: with a problem, which it returns, if nothing was sent yet, otherwise by
// resetting the connection, so that the answer does not look whole.
func (s *condition) cutOff(w *answer, r *http.Request, err error) *problem {
	if !w.hasBegun && r.Context().Err() == nil {
		w.Header().Del("Trailer")
		return errorProblem(err)
	}
	if errors.Is(err, errRefused) {
		return nil // the refusal was sent instead
	}
	defer panic(http.ErrAbortHandler)
	defer resetConnection(r.Context())
	switch {
	case r.Context().Err() != nil, errors.Is(err, errClientGone):
	case errors.Is(err, context.DeadlineExceeded):
		s.journal.Warn("answer cut off", "path", r.URL.Path, "from", r.RemoteAddr, "error", err)
	default:
		s.journal.Error("answer cut off", "path", r.URL.Path, "error", err)
	}
	s.notice(errorProblem(err).cause)
	return nil
}

// A workTimer ends a request that has been worked on for too long. It writes to the client; the
// time that the client takes does not count. Its errors wrap [errClientGone].
type workTimer struct {
	io.Writer
	timer     *time.Timer
	remaining time.Duration
	since     time.Time
}

// workContext returns a context that ends when its timer has run for max, and a function that stops
// both.
func workContext(parent context.Context, w io.Writer, max time.Duration) (context.Context, *workTimer, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	cause := fmt.Errorf("%w: the request has been worked on for %v: ask for less at a time",
		context.DeadlineExceeded, max)
	t := &workTimer{Writer: w, remaining: max, since: time.Now()}
	t.timer = time.AfterFunc(max, func() { cancel(cause) })
	return ctx, t, func() { t.timer.Stop(); cancel(nil) }
}

// Write writes, and stops the timer meanwhile.
func (t *workTimer) Write(p []byte) (int, error) {
	t.timer.Stop()
	t.remaining -= time.Since(t.since)
	n, err := t.Writer.Write(p)
	t.since = time.Now()
	t.timer.Reset(max(t.remaining, 0)) // a request that is over its time ends at once
	if err != nil {
		err = fmt.Errorf("%w: %w", errClientGone, err)
	}
	return n, err
}

var errClientGone = errors.New("the client has disconnected")
