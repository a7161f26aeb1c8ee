package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine"
	"ndd/engine/index/live"
)

const (
	limitDefault = 1000
	limitMost    = 1 << 16
)

// queryRequest is the body of /v1/query.
type queryRequest struct {
	Subject
	K     *integer `json:"k,omitempty" doc:"Largest Hamming distance, at most the index's own k, which is the default"`
	Limit *integer `json:"limit,omitempty" minimum:"1" maximum:"65536" doc:"Largest number of ids in the answer (default 1000)"`
}

// Neighbours are the stored fingerprints near one, nearest first.
type Neighbours struct {
	Fingerprint string `json:"fingerprint" doc:"The fingerprint of the query, or both with a comma"`
	K           int    `json:"k" doc:"Largest distance"`
	Documents   int    `json:"documents" doc:"Number of documents of all hits"`
	Truncated   bool   `json:"truncated" doc:"Whether there are more ids than the limit, or more bytes of them than an answer may have (limits of /v1/stats)"`
	Hits        []hit  `json:"hits" nullable:"false" doc:"Stored fingerprints within distance k, nearest first, equal distances by fingerprint"`
}

// hit is one stored fingerprint.
type hit struct {
	Fingerprint string   `json:"fingerprint" doc:"16 hexadecimal digits"`
	Distance    int      `json:"distance" doc:"Number of bits in which it differs from the query, of the nearer fingerprint where documents have two"`
	Documents   int      `json:"documents" doc:"Number of documents with this fingerprint"`
	IDs         []string `json:"ids" nullable:"false" doc:"Ids of the documents, in order of arrival, up to the limit"`
}

func (s *service) registerQuery(api huma.API) {
	type input struct{ Body queryRequest }
	type output struct{ Body *Neighbours }
	huma.Register(api, operation(http.MethodPost, "/v1/query", "query", "Find near-duplicates",
		"Everything stored within k bits of a fingerprint or a document."),
		func(ctx context.Context, in *input) (*output, error) {
			n, p := s.neighbours(ctx, &in.Body)
			if p != nil {
				return nil, p
			}
			return &output{n}, nil
		})
}

// quickQuery is /v1/query for bodies that are as most are.
func (s *service) quickQuery(w http.ResponseWriter, v *visit) bool {
	in, ok := decodeQuery(v.body)
	if !ok {
		return false
	}
	n, p := s.neighbours(v, in)
	if p != nil {
		p.write(w)
		return true
	}
	send(w, n.append)
	return true
}

// neighbours answers a query.
func (s *service) neighbours(ctx context.Context, in *queryRequest) (*Neighbours, *problem) {
	f, p := s.sketch(ctx, &in.Subject, "body")
	if p != nil {
		return nil, p
	}
	return s.answer(ctx, f, in.K, in.Limit)
}

// queryDocument is /v1/query with a document as its body.
func (s *service) queryDocument(w http.ResponseWriter, r *http.Request) {
	n, p := s.answerDocument(r)
	if p != nil {
		p.write(w)
		return
	}
	send(w, n.append)
}

func (s *service) answerDocument(r *http.Request) (*Neighbours, *problem) {
	text, p := s.wholeText(r)
	if p != nil {
		return nil, p
	}
	f, p := s.sketchText(text, "body")
	if p != nil {
		return nil, p
	}
	return s.answer(r.Context(), f, nil, nil)
}

// answer returns what is near a fingerprint; k and limit are those of a request's body, and may be nil.
func (s *service) answer(ctx context.Context, f sketch, k, limit *integer) (*Neighbours, *problem) {
	a := argumentsOf(ctx)
	within, p := a.distance(s.index.Load(), k)
	if p != nil {
		return nil, p
	}
	return s.query(ctx, f, within, a.most(limit, limitDefault))
}

// query searches the index and looks IDs up, of what it holds at one moment. Hits are listed as they are found: it holds no
// more of them than the answer has.
func (s *service) query(ctx context.Context, f sketch, k, limit int) (*Neighbours, *problem) {
	s.metrics.queried.Inc()
	v, err := s.index.Load().View()
	if err != nil {
		return nil, broken(err)
	}
	defer v.Release()
	l := s.list(v.IDs(), f, k, limit)
	if err := v.QueryPrints(ctx, f.prints, f.textBytes, k, limit, l.add); err != nil {
		return nil, broken(err)
	}
	return l.Neighbours, nil
}

// describe gives hits the IDs of their documents, limit of them at most, and as many bytes as an answer may have. The error wraps
// engine.ErrNoDocument when one of them is gone.
func (s *service) describe(x *engine.Index, f sketch, k int, hits []engine.Hit, limit int) (*Neighbours, error) {
	l := s.list(x.IDs(), f, k, limit)
	return l.Neighbours, l.add(hits)
}

// A listing is an answer that grows: with the IDs of documents until there are so many of them, or so many bytes, and then
// with their number alone.
type listing struct {
	*Neighbours
	ids    *live.IDs
	limit  int   // IDs that may still be listed
	room   int64 // and bytes of them
	listed int
}

func (s *service) list(ids *live.IDs, f sketch, k, limit int) *listing {
	return &listing{Neighbours: &Neighbours{Fingerprint: f.String(), K: k, Hits: []hit{}}, ids: ids, limit: limit, room: s.limits.Answer}
}

// add adds hits, or the next documents of the last one.
func (l *listing) add(hits []engine.Hit) error {
	for i := range hits {
		h := &hits[i]
		if h.Before == 0 {
			l.Documents += int(h.Documents)
		}
		begun := h.Before > 0
		for _, doc := range h.Docs {
			if l.limit <= 0 || l.room <= 0 {
				break
			}
			if !begun {
				l.Hits = append(l.Hits, hit{Fingerprint: h.Fingerprint.String(), Distance: h.Distance, Documents: int(h.Documents), IDs: []string{}})
				begun = true
			}
			l.limit, l.listed = l.limit-1, l.listed+1
			if doc == engine.NoDoc {
				continue // the index keeps fingerprints only
			}
			id, err := l.ids.ID(doc)
			if err != nil {
				return err
			}
			last := &l.Hits[len(l.Hits)-1]
			last.IDs = append(last.IDs, id)
			l.room -= int64(len(id))
		}
	}
	l.Truncated = l.listed < l.Documents
	return nil
}
