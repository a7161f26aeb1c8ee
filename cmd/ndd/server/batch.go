package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/result"
)

// batchQueriesMax is 512 KiB of request.
const batchQueriesMax = 1 << 16

const (
	mediaTSV   = "text/tab-separated-values"
	mediaLines = "application/x-ndjson"
)

func batchOperation() *huma.Operation {
	o := operation(http.MethodPost, "/v1/batch", "batch", "Find near-duplicates of many fingerprints",
		"Body: up to 65,536 fingerprints as little-endian 64-bit integers. Answer: one line per document, in order of query row, distance, fingerprint, and arrival.")
	zero, most := 0.0, 64.0
	o.Parameters = []*huma.Param{
		{Name: "k", In: "query", Description: "Largest Hamming distance, at most the index's own k, which is the default", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &zero, Maximum: &most}},
		{Name: "unique", In: "query", Description: "One line per distinct fingerprint, with the id of its first document", Schema: &huma.Schema{Type: huma.TypeBoolean}},
	}
	o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	line := &huma.Schema{Type: huma.TypeString}
	o.Responses = map[string]*huma.Response{
		"200":     {Description: "query row, fingerprint, distance, id", Content: map[string]*huma.MediaType{mediaTSV: {Schema: line}, mediaLines: {Schema: line}}},
		"default": {Description: "What went wrong", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: &huma.Schema{Ref: "#/components/schemas/ErrorModel"}}}},
	}
	return &o
}

// batch answers many fingerprints in one stream. Once the stream has begun, a
// failure can only cut it off: the client sees a chunked body without its end.
func (s *service) batch(w http.ResponseWriter, r *http.Request) {
	x := s.index.Load()
	k, unique, queries, p := batchRequest(x, r)
	if p != nil {
		p.write(w)
		return
	}
	media, format := mediaTSV, result.TSV
	if accepts(r, mediaLines, "application/jsonl", "application/json") {
		media, format = mediaLines, result.JSONEscaped
	}
	s.metrics.asked.Add(float64(len(queries)))
	w.Header().Set("Content-Type", media)
	out := bufio.NewWriterSize(clientWriter{w}, 64<<10)
	ids := x.IDs()
	var one bytes.Buffer // the rows of one query
	rows := result.NewWriter(&one, format, func(doc uint64) (string, error) { return ids.ID(engine.DocID(doc)) })
	each := engine.AllDocs
	if unique {
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
func batchRequest(x *engine.Index, r *http.Request) (k int, unique bool, queries []uint64, p *problem) {
	values, p := parameters(r, "k", "unique")
	if p != nil {
		return 0, false, nil, p
	}
	if k, p = kParameter(x, values); p != nil {
		return 0, false, nil, p
	}
	if values.Has("unique") {
		var err error
		if unique, err = strconv.ParseBool(values.Get("unique")); err != nil {
			return 0, false, nil, misfit("query.unique", "%.40q must be true or false", values.Get("unique"))
		}
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return 0, false, nil, misfit("body", "%v", err)
	case len(body)%8 != 0:
		return 0, false, nil, misfit("body", "%d bytes are not a whole number of 8-byte fingerprints", len(body))
	case len(body)/8 > batchQueriesMax:
		return 0, false, nil, refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: %d fingerprints; a request may have at most %d", len(body)/8, batchQueriesMax))
	}
	queries = make([]uint64, len(body)/8)
	for i := range queries {
		queries[i] = binary.LittleEndian.Uint64(body[8*i:])
	}
	return k, unique, queries, nil
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
