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

// A rowStream is an answer that is written while it is computed. write returns the number of rows.
type rowStream struct {
	media string
	write func(context.Context, io.Writer) (rows int, err error)
}

// rowsTrailer is the trailer with the number of rows of a complete answer. A partial answer has none. Its connection
// is reset, so clients of HTTP/1.0 notice it, too.
const rowsTrailer = "Ndd-Rows"

// send sends a stream. After the first bytes, an error can only cut it off: the client sees a chunked body without
// its end. max limits the time of the computation, not of the client's reading.
func (s *condition) send(w *answer, r *http.Request, rows *rowStream, max time.Duration) *problem {
	w.Header().Set("Content-Type", rows.media)
	w.Header().Set("Trailer", rowsTrailer)
	ctx, timed, stop := workContext(r.Context(), w, max)
	defer stop()
	n, err := rows.write(ctx, timed)
	if err != nil {
		return s.cutOff(w, r, err)
	}
	w.Header().Set(rowsTrailer, strconv.Itoa(n))
	return nil
}

// cutOff ends an answer that failed. If nothing was sent yet, it returns the problem to send. Otherwise it resets the
// connection, so that the answer does not look complete.
func (s *condition) cutOff(w *answer, r *http.Request, err error) *problem {
	if !w.hasBegun && r.Context().Err() == nil {
		w.Header().Del("Trailer")
		return errorProblem(err)
	}
	if errors.Is(err, errRefused) {
		return nil // begin has sent a refusal instead
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

// A workTimer limits the computing time of a request. It is the writer to the client, and its clock stops during each
// write. Its errors wrap [errClientGone].
type workTimer struct {
	io.Writer
	timer     *time.Timer
	remaining time.Duration
	start     time.Time
}

// workContext returns a context, and its timer, which cancels it after max. stop releases both.
func workContext(parent context.Context, w io.Writer, max time.Duration) (context.Context, *workTimer, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	cause := fmt.Errorf("%w: the request has been worked on for %v: ask for less at a time",
		context.DeadlineExceeded, max)
	t := &workTimer{Writer: w, remaining: max, start: time.Now()}
	t.timer = time.AfterFunc(max, func() { cancel(cause) })
	return ctx, t, func() { t.timer.Stop(); cancel(nil) }
}

// Write writes to the client. The timer stops meanwhile.
func (t *workTimer) Write(p []byte) (int, error) {
	t.timer.Stop()
	t.remaining -= time.Since(t.start)
	n, err := t.Writer.Write(p)
	t.start = time.Now()
	t.timer.Reset(max(t.remaining, 0)) // a request without remaining time ends at once
	if err != nil {
		err = fmt.Errorf("%w: %w", errClientGone, err)
	}
	return n, err
}

var errClientGone = errors.New("the client has disconnected")
