package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/store"
)

// batch handles /v1/batch. It streams the hits of many fingerprints.
func (s queries) batch(_ context.Context, c *call, in *batchRequest) (reply, *problem) {
	k, fingerprints, p := in.read(c)
	if p != nil {
		return reply{}, p
	}
	media, format := batchFormat(c.accept)
	s.metrics.queried.WithLabelValues("/v1/batch").Add(float64(len(fingerprints)))
	o := engine.BatchOptions{K: k, Docs: engine.AllDocs, Threads: s.threads}
	if in.Unique {
		o.Docs = engine.FirstDoc
	}
	return reply{rows: &rowStream{media, func(ctx context.Context, w io.Writer) (bytes int, err error) {
		out := bufio.NewWriterSize(w, 64<<10)
		v, err := c.index.View()
		if err != nil {
			return 0, err
		}
		defer v.Release()
		ids := v.IDs()
		id := func(doc uint64) (string, error) { return ids.ID(engine.DocID(doc)) }
		rows := result.NewWriter(out, format, result.Integer, false, id)
		err = v.Batch(ctx, simhash.Fingerprints(fingerprints), o, func(query int, hits []engine.Hit) error {
			n, err := writeHits(rows, query, hits)
			bytes += n
			return err
		})
		if err != nil {
			return bytes, err
		}
		return bytes, out.Flush()
	}}}, nil
}

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

// A batchRequest has the parameters of /v1/batch. Its body has fingerprints.
type batchRequest struct {
	K      *bitCount `json:"k"`
	Unique choice    `json:"unique"`
}

// read returns the k and the fingerprints of a request.
func (in *batchRequest) read(c *call) (k int, fingerprints []uint64, p *problem) {
	if k, p = c.distance(in.K); p != nil {
		return 0, nil, p
	}
	if isPrivate(c.index.Recipe()) {
		return 0, nil, fieldProblem("body", privateKeyHint)
	}
	switch n := len(c.body) / 8; {
	case len(c.body) == 0:
		return 0, nil, newProblem(http.StatusBadRequest, "body: empty; it must have at least one fingerprint, of 8 bytes")
	case len(c.body)%8 != 0:
		return 0, nil, fieldProblem("body", "%d bytes are not a whole number of 8-byte fingerprints", len(c.body))
	case n > fingerprintsMax:
		return 0, nil, newProblem(http.StatusRequestEntityTooLarge,
			fmt.Sprintf("body: %d fingerprints; a request may have at most %d", n, fingerprintsMax))
	}
	return k, slices.Clone(store.Uint64s(c.body)), nil
}

// batchFormat returns the media type and the format that the client accepts.
func batchFormat(accept []string) (media string, f result.Format) {
	switch {
	case names(accept, mediaLines, "application/jsonl", mediaJSON):
		return mediaLines, result.JSON
	case names(accept, mediaBytes):
		return mediaBytes, result.Binary
	}
	return mediaTSV, result.TSV
}

// names reports whether the headers Accept name one of these media types.
func names(accept []string, media ...string) bool {
	for _, header := range accept {
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
