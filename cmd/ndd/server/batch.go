package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/result"
	"ndd/engine/storage/store"
)

// batch is /v1/batch. It answers many fingerprints in one stream. Once the stream has begun, an
// error can only cut it off: the client sees a chunked body without its end. The time that the
// client takes to read does not count towards --timeout.
func (s queries) batch(w http.ResponseWriter, r *http.Request) {
	visit := visitOf(r.Context())
	x := visit.index()
	k, prints, p := s.batchRequest(visit)
	if p != nil {
		p.write(w)
		return
	}
	media, format := batchFormat(r)
	s.metrics.asked.WithLabelValues("/v1/batch").Add(float64(len(prints)))
	w.Header().Set("Content-Type", media)
	w.Header().Set("Trailer", rowsTrailer)
	ctx, timed, stop := workContext(r.Context(), w, s.limits.Timeout)
	defer stop()
	out := bufio.NewWriterSize(timed, 64<<10)
	v, err := x.View()
	if err != nil {
		s.cutOff(w, r, err)
		return
	}
	defer v.Release()
	ids := v.IDs()
	id := func(doc uint64) (string, error) { return ids.ID(engine.DocID(doc)) }
	rows := result.NewWriter(out, format, result.Integer, id)
	each := engine.AllDocs
	if visit.arguments.unique {
		each = engine.FirstDoc
	}
	written := 0
	o := engine.BatchOptions{K: k, Docs: each, Threads: s.options.Threads}
	err = v.Batch(ctx, simhash.Fingerprints(prints), o, func(query int, hits []engine.Hit) error {
		n, err := writeHits(rows, query, hits)
		written += n
		return err
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		s.cutOff(w, r, err)
		return
	}
	w.Header().Set(rowsTrailer, strconv.Itoa(written))
}

// rowsTrailer is the trailer of a whole answer with the number of its rows. An answer that was cut
// off has none, and its connection is reset, which HTTP/1.0 shows, too.
const rowsTrailer = "Ndd-Rows"

// writeHits writes a row for each document of hits and returns their number.
func writeHits(rows *result.Writer, query int, hits []engine.Hit) (n int, err error) {
	for i := range hits {
		h := &hits[i]
		for _, doc := range h.Docs {
			if err := rows.Write(result.Row{Query: query, Fingerprint: h.Fingerprint, Distance: h.Distance,
				DocID: uint64(doc)}); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// A workTimer ends a request that has been worked on for too long. It writes to the client; the
// time that the client takes does not count. Its errors wrap [errClientGone].
type workTimer struct {
	io.Writer
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// workContext returns a context that ends when its timer has run for max, and a function that stops
// both.
func workContext(parent context.Context, w io.Writer, max time.Duration) (context.Context, *workTimer, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	cause := fmt.Errorf("%w: the request has been worked on for %v: ask for less at a time",
		context.DeadlineExceeded, max)
	t := &workTimer{Writer: w, left: max, since: time.Now()}
	t.timer = time.AfterFunc(max, func() { cancel(cause) })
	return ctx, t, func() { t.timer.Stop(); cancel(nil) }
}

// Write writes, and stops the timer meanwhile.
func (t *workTimer) Write(p []byte) (int, error) {
	t.timer.Stop()
	t.left -= time.Since(t.since)
	n, err := t.Writer.Write(p)
	t.since = time.Now()
	t.timer.Reset(max(t.left, 0)) // which ends at once a request that was over its time before
	if err != nil {
		err = fmt.Errorf("%w: %w", errClientGone, err)
	}
	return n, err
}

// cutOff ends an answer that failed: with a problem if nothing was sent yet, otherwise by resetting
// the connection, so that the answer does not look whole.
func (s *service) cutOff(w http.ResponseWriter, r *http.Request, err error) {
	if !visitOf(r.Context()).answer.begun && r.Context().Err() == nil {
		w.Header().Del("Trailer")
		broken(err).write(w)
		return
	}
	if errors.Is(err, errRefused) {
		return // the refusal was sent instead
	}
	defer panic(http.ErrAbortHandler)
	defer resetConnection(r.Context())
	switch {
	case r.Context().Err() != nil, errors.Is(err, errClientGone):
	case errors.Is(err, context.DeadlineExceeded):
		s.log.Warn("answer cut off", "path", r.URL.Path, "from", r.RemoteAddr, "error", err)
	default:
		s.log.Error("answer cut off", "path", r.URL.Path, "error", err)
	}
	if p := broken(err); p.cause != nil {
		s.notice(p.cause)
	}
}

// batchRequest reads a request.
func (s queries) batchRequest(v *visit) (k int, prints []uint64, p *problem) {
	if k, p = v.distance(nil); p != nil {
		return 0, nil, p
	}
	if v.service.privateKey() {
		return 0, nil, misfit("body", privateKeyHint)
	}
	switch n := len(v.body) / 8; {
	case len(v.body) == 0:
		return 0, nil, refusal(http.StatusBadRequest, "body: empty; it must have at least one fingerprint, of 8 bytes")
	case len(v.body)%8 != 0:
		return 0, nil, misfit("body", "%d bytes are not a whole number of 8-byte fingerprints", len(v.body))
	case n > fingerprintsMax:
		return 0, nil, refusal(http.StatusRequestEntityTooLarge,
			fmt.Sprintf("body: %d fingerprints; a request may have at most %d", n, fingerprintsMax))
	}
	return k, slices.Clone(store.Uint64s(v.body)), nil
}

// batchFormat returns the format of the answer that the client asks for and its media type.
func batchFormat(r *http.Request) (media string, f result.Format) {
	switch {
	case accepts(r, mediaLines, "application/jsonl", mediaJSON):
		return mediaLines, result.JSONEscaped
	case accepts(r, mediaBytes):
		return mediaBytes, result.Binary
	}
	return mediaTSV, result.TSV
}

// accepts reports whether the client asks for one of these media types by name.
func accepts(r *http.Request, media ...string) bool {
	for _, header := range r.Header.Values("Accept") {
		for want := range strings.SplitSeq(header, ",") {
			want, _, _ = strings.Cut(want, ";")
			for _, m := range media {
				if strings.EqualFold(strings.TrimSpace(want), m) {
					return true
				}
			}
		}
	}
	return false
}

var errClientGone = errors.New("the client has disconnected")
