package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/result"
)

// batchQueriesMax is 512 KiB of request.
const batchQueriesMax = 1 << 16

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
// failure can only cut it off: the client sees a chunked body without its end.
func (s *service) batch(w http.ResponseWriter, r *http.Request) {
	x := s.index.Load()
	k, queries, p := batchRequest(x, r)
	if p != nil {
		p.write(w)
		return
	}
	media, format := batchFormat(r)
	s.metrics.asked.Add(float64(len(queries)))
	w.Header().Set("Content-Type", media)
	out := bufio.NewWriterSize(clientWriter{w}, 64<<10)
	ids := x.IDs()
	var one bytes.Buffer // the rows of one query
	rows := result.NewWriter(&one, format, func(doc uint64) (string, error) { return ids.ID(engine.DocID(doc)) })
	each := engine.AllDocs
	if argumentsOf(r.Context()).unique {
		each = 1
	}
	o := engine.BatchOptions{K: k, Docs: each, Threads: s.threads}
	err := x.Batch(r.Context(), simhash.Fingerprints(queries), o, func(query int, hits []engine.Hit) (err error) {
		for try := 1; ; try++ {
			if err = writeHits(rows, query, hits); !errors.Is(err, engine.ErrNoDocument) || try == againMax {
				break
			}
			one.Reset() // a document was replaced since it was found
			if hits, err = x.Query(r.Context(), simhash.Fingerprint(queries[query]), k, each); err != nil {
				break
			}
		}
		if err == nil {
			_, err = one.WriteTo(out)
		}
		return err
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		s.cutOff(w, r, err)
	}
}

// writeHits writes a row for each document of hits.
func writeHits(rows *result.Writer, query int, hits []engine.Hit) error {
	for i := range hits {
		h := &hits[i]
		for _, doc := range h.Docs {
			if err := rows.Write(result.Row{Query: query, Fingerprint: h.Fingerprint, Distance: h.Distance, DocID: uint64(doc)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// A clientWriter is the other end of a response: what it does not take fails with [errClientGone].
type clientWriter struct{ w io.Writer }

func (c clientWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", errClientGone, err)
	}
	return n, err
}

// cutOff ends an answer that failed: with a problem if none of it has gone.
func (s *service) cutOff(w http.ResponseWriter, r *http.Request, err error) {
	if out, ok := w.(*response); ok && out.status == 0 && r.Context().Err() == nil {
		broken(err).write(w)
		return
	}
	if r.Context().Err() == nil && !errors.Is(err, errClientGone) {
		s.log.Error("answer cut off", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// batchRequest takes a request apart.
func batchRequest(x *engine.Index, r *http.Request) (k int, queries []uint64, p *problem) {
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
	case len(body)/8 > batchQueriesMax:
		return 0, nil, refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: %d fingerprints; a request may have at most %d", len(body)/8, batchQueriesMax))
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
