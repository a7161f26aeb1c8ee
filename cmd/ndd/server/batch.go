package server

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"ndd/cmd/ndd/server/conns"
	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/result"
)

// Media types.
const (
	mediaJSON  = "application/json"
	mediaText  = "text/plain"
	mediaHTML  = "text/html"
	mediaBytes = "application/octet-stream"
	mediaTSV   = "text/tab-separated-values"
	mediaLines = "application/x-ndjson"
)

// batch answers many fingerprints in one stream. Once the stream has begun, a
// failure can only cut it off: the client sees a chunked body without its end. The time of a request is that of its work: what
// the client takes to read is not counted.
func (s *service) batch(w http.ResponseWriter, r *http.Request) {
	x := s.index.Load()
	k, queries, p := s.batchRequest(x, r)
	if p != nil {
		p.write(w)
		return
	}
	media, format := batchFormat(r)
	s.metrics.batched.Add(float64(len(queries)))
	w.Header().Set("Content-Type", media)
	w.Header().Set("Trailer", rowsTrailer)
	ctx, working := workContext(r.Context(), s.limits.Timeout)
	defer working.end()
	out := bufio.NewWriterSize(clientWriter{w, working}, 64<<10)
	v, err := x.View()
	if err != nil {
		s.cutOff(w, r, err)
		return
	}
	defer v.Release()
	ids := v.IDs()
	rows := result.NewWriter(out, format, func(doc uint64) (string, error) { return ids.ID(engine.DocID(doc)) })
	each := engine.AllDocs
	if argumentsOf(r.Context()).unique {
		each = engine.FirstDoc
	}
	written := 0
	o := engine.BatchOptions{K: k, Docs: each, Threads: s.threads}
	err = v.Batch(ctx, simhash.Fingerprints(queries), o, func(query int, hits []engine.Hit) error {
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

// rowsTrailer comes behind a whole answer, with the number of its rows, over HTTP/1.1. An answer that was cut off has none, and
// ends with a connection that is reset, which HTTP/1.0 shows, too.
const rowsTrailer = "Ndd-Rows"

// writeHits writes a row for each document of hits, and returns how many they are.
func writeHits(rows *result.Writer, query int, hits []engine.Hit) (n int, err error) {
	for i := range hits {
		h := &hits[i]
		for _, doc := range h.Docs {
			if err := rows.Write(result.Row{Query: query, Fingerprint: h.Fingerprint, Distance: h.Distance, DocID: uint64(doc)}); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// A clientWriter is the other end of a response: what it does not take fails with [errClientGone].
type clientWriter struct {
	w       io.Writer
	working *workTimer
}

func (c clientWriter) Write(p []byte) (int, error) {
	c.working.pause()
	defer c.working.resume()
	n, err := c.w.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", errClientGone, err)
	}
	return n, err
}

// cutOff ends an answer that failed: with a problem if none of it has gone, and else with a connection that is reset, so that
// what has gone does not look whole.
func (s *service) cutOff(w http.ResponseWriter, r *http.Request, err error) {
	if out, ok := w.(interface{ untouched() bool }); ok && out.untouched() && r.Context().Err() == nil {
		w.Header().Del("Trailer")
		broken(err).write(w)
		return
	}
	defer panic(http.ErrAbortHandler)
	defer conns.Of(r.Context()).Reset()
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

// batchRequest takes a request apart.
func (s *service) batchRequest(x *engine.Index, r *http.Request) (k int, queries []uint64, p *problem) {
	if k, p = argumentsOf(r.Context()).distance(x, nil); p != nil {
		return 0, nil, p
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return 0, nil, misfit("body", "%v", err)
	case len(body) == 0:
		return 0, nil, refusal(http.StatusBadRequest, "body: empty; it must have at least one fingerprint, of 8 bytes")
	case len(body)%8 != 0:
		return 0, nil, misfit("body", "%d bytes are not a whole number of 8-byte fingerprints", len(body))
	case len(body)/8%x.PrintsEach() != 0:
		return 0, nil, misfit("body", "%d fingerprints, and the documents of the index have %d each, one after the other", len(body)/8, x.PrintsEach())
	case len(body)/8 > s.limits.Fingerprints:
		return 0, nil, refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: %d fingerprints; a request may have at most %d (--max-fingerprints)", len(body)/8, s.limits.Fingerprints))
	}
	queries = make([]uint64, len(body)/8)
	for i := range queries {
		queries[i] = binary.LittleEndian.Uint64(body[8*i:])
	}
	return k, queries, nil
}

// batchFormat returns the format of the answer that the client asks for, and its media type.
func batchFormat(r *http.Request) (media string, f result.Format) {
	switch {
	case accepts(r, mediaLines, "application/jsonl", mediaJSON):
		return mediaLines, result.JSONEscaped
	case accepts(r, mediaBytes):
		return mediaBytes, result.Binary
	}
	return mediaTSV, result.TSV
}

// accepts says whether the client asks for one of these media types by name.
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
