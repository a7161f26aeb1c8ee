package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
)

const (
	limitDefault = 1000
	limitMost    = 1 << 16
)

// queryRequest is the body of /v1/query.
type queryRequest struct {
	Subject
	K     *int `json:"k,omitempty" minimum:"0" maximum:"64" doc:"Largest Hamming distance, at most the index's own k, which is the default"`
	Limit *int `json:"limit,omitempty" minimum:"1" maximum:"65536" doc:"Largest number of ids in the answer (default 1000)"`
}

// Neighbours are the stored fingerprints near one, nearest first.
type Neighbours struct {
	Fingerprint string `json:"fingerprint" doc:"The fingerprint of the query"`
	K           int    `json:"k" doc:"Largest distance"`
	Documents   int    `json:"documents" doc:"Number of documents of all hits"`
	Truncated   bool   `json:"truncated" doc:"Whether there are more ids than the limit"`
	Hits        []hit  `json:"hits" nullable:"false" doc:"Stored fingerprints within distance k, nearest first, equal distances by fingerprint"`
}

// hit is one stored fingerprint.
type hit struct {
	Fingerprint string   `json:"fingerprint" doc:"16 hexadecimal digits"`
	Distance    int      `json:"distance" doc:"Number of bits in which it differs from the query"`
	Documents   int      `json:"documents" doc:"Number of documents with this fingerprint"`
	IDs         []string `json:"ids" nullable:"false" doc:"Ids of the documents, in order of arrival, up to the limit"`
}

func (s *service) registerQuery(api huma.API) {
	type input struct{ Body queryRequest }
	type output struct{ Body *Neighbours }
	o := operation(http.MethodPost, "/v1/query", "query", "Find near-duplicates",
		"Everything stored within k bits of a fingerprint or a document. "+
			"The document may also be the body itself, as text/plain or text/html, with k and limit as query parameters.")
	o.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{
		"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}},
		"text/html":  {Schema: &huma.Schema{Type: huma.TypeString}},
	}}
	huma.Register(api, o, func(ctx context.Context, in *input) (*output, error) {
		f, p := s.fingerprint(ctx, &in.Body.Subject, "body")
		if p != nil {
			return nil, p
		}
		k, p := distance(s.index.Load(), in.Body.K, "body.k")
		if p != nil {
			return nil, p
		}
		limit := limitDefault
		if in.Body.Limit != nil {
			limit = *in.Body.Limit
		}
		n, p := s.query(ctx, f, k, limit)
		if p != nil {
			return nil, p
		}
		return &output{n}, nil
	})
}

// queryDocument is /v1/query with a document as its body.
func (s *service) queryDocument(w http.ResponseWriter, r *http.Request) {
	n, p := s.answerDocument(r)
	if p != nil {
		p.write(w)
		return
	}
	writeJSON(w, http.StatusOK, n)
}

func (s *service) answerDocument(r *http.Request) (*Neighbours, *problem) {
	values, p := parameters(r, "k", "limit")
	if p != nil {
		return nil, p
	}
	k, p := kParameter(s.index.Load(), values)
	if p != nil {
		return nil, p
	}
	limit := limitDefault
	if v := values.Get("limit"); v != "" {
		var err error
		if limit, err = strconv.Atoi(v); err != nil || limit < 1 || limit > limitMost {
			return nil, misfit("query.limit", "%.40q must be a number from 1 to %d", v, limitMost)
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, misfit("body", "%v", err)
	}
	f, p := s.fingerprintBody(r.Context(), body, r.Header.Get("Content-Type"))
	if p != nil {
		return nil, p
	}
	return s.query(r.Context(), f, k, limit)
}

// parameters are those of a request's URL; any but the named ones, and one
// given twice, are refused.
func parameters(r *http.Request, names ...string) (url.Values, *problem) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, misfit("query", "%v", err)
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for name, list := range values {
		if !known[name] {
			return nil, misfit("query."+name, "unknown query parameter")
		}
		if len(list) > 1 {
			return nil, misfit("query."+name, "given %d times", len(list))
		}
	}
	return values, nil
}

func kParameter(x *engine.Index, values url.Values) (int, *problem) {
	if !values.Has("k") {
		return distance(x, nil, "query.k")
	}
	k, err := strconv.Atoi(values.Get("k"))
	if err != nil {
		return 0, misfit("query.k", "%.40q is not a number", values.Get("k"))
	}
	return distance(x, &k, "query.k")
}

// againMax is how often a query is asked again because documents that it found were replaced before
// their IDs were looked up.
const againMax = 20

// query searches the index and looks IDs up.
func (s *service) query(ctx context.Context, f simhash.Fingerprint, k, limit int) (*Neighbours, *problem) {
	x := s.index.Load()
	s.metrics.asked.Inc()
	for try := 1; ; try++ {
		hits, err := x.Query(ctx, f, k, limit)
		if err != nil {
			return nil, broken(err)
		}
		n, err := describe(x, f, k, hits, limit)
		if err == nil {
			return n, nil
		}
		if !errors.Is(err, engine.ErrNoDocument) || try == againMax {
			return nil, broken(err)
		}
	}
}

// describe gives hits the IDs of their documents, limit of them at most. The error wraps
// engine.ErrNoDocument when one of them is gone.
func describe(x *engine.Index, f simhash.Fingerprint, k int, hits []engine.Hit, limit int) (*Neighbours, error) {
	n := &Neighbours{Fingerprint: f.String(), K: k, Hits: make([]hit, 0, min(len(hits), limit))}
	names := x.IDs()
	for _, h := range hits {
		n.Documents += int(h.Documents)
		docs := h.Docs[:min(limit, len(h.Docs))]
		limit -= len(docs)
		if uint64(len(docs)) < h.Documents {
			n.Truncated = true
		}
		if len(docs) == 0 {
			continue
		}
		out := hit{Fingerprint: h.Fingerprint.String(), Distance: h.Distance, Documents: int(h.Documents), IDs: make([]string, len(docs))}
		for i, doc := range docs {
			var err error
			if out.IDs[i], err = names.ID(doc); err != nil {
				return nil, err
			}
		}
		n.Hits = append(n.Hits, out)
	}
	return n, nil
}
