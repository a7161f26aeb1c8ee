package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine"
	"ndd/engine/copies"
)

// copiesWork is what a request with so long a body costs: signatures at some 50 MB/s, and a list for each.
func copiesWork(_ *engine.Index, body int) time.Duration {
	return requestWork + time.Duration(body)*100*time.Nanosecond
}

// copiesRequest is the body of /v1/copies.
type copiesRequest struct {
	Text      *string  `json:"text,omitempty" format:"document-text" doc:"Plain text"`
	HTML      *string  `json:"html,omitempty" format:"document-html" doc:"An HTML page; its text is compared without the markup"`
	Threshold *float64 `json:"threshold,omitempty" exclusiveMinimum:"0" maximum:"1" doc:"Lowest score; the default is each method's own"`
	Limit     *integer `json:"limit,omitempty" minimum:"1" maximum:"65536" doc:"Largest number of copies in the answer (default 1000)"`
	Site      *string  `json:"site,omitempty" maxLength:"2048" doc:"The document's site, by its name or the URL of the document"`
	SameSite  *string  `json:"same_site,omitempty" enum:"keep,skip" doc:"Whether documents of the same site count; the default is keep"`

	whole bool // the text is that of the request's whole body
}

// copiesAnswer are the documents that have text in common with one.
type copiesAnswer struct {
	Compared  bool        `json:"compared" doc:"Whether the document has enough signatures to be compared at all"`
	Documents int         `json:"documents" doc:"Number of copies in all"`
	Truncated bool        `json:"truncated" doc:"Whether there are more than are listed"`
	Copies    []foundCopy `json:"copies" nullable:"false" doc:"Documents of the index that have text in common with it, the most similar first"`
}

// foundCopy is one of them.
type foundCopy struct {
	ID       string  `json:"id"`
	Relation string  `json:"relation" enum:"duplicate,contains,contained,overlap" doc:"What the document that was sent is to this one: it contains it, or is contained in it"`
	Method   string  `json:"method" enum:"spotsigs,ccdet,winnow,shingles"`
	Score    float64 `json:"score" doc:"Similarity by the method"`
	AInB     float64 `json:"a_in_b" doc:"Part of the document's signatures that this one has"`
	BInA     float64 `json:"b_in_a" doc:"Part of this one's signatures that the document has"`
	SizeA    int     `json:"size_a" doc:"Signatures of the document"`
	SizeB    int     `json:"size_b" doc:"Signatures of this one"`
	Shared   int     `json:"shared"`
	Flags    string  `json:"flags" doc:"Any of equal, few_a, few_b, same_site, separated by commas"`
}

// registerCopies adds /v1/copies to the API, where there is an index for it.
func (s *service) registerCopies(api huma.API) {
	if s.copies == nil {
		return
	}
	type input struct{ Body copiesRequest }
	type output struct{ Body *copiesAnswer }
	huma.Register(api, operation(http.MethodPost, "/v1/copies", "copies", "Find copies",
		"Documents that have much of their text in common with one, as a whole or in part: revised pages, excerpts and digests, beyond near-duplicates."),
		func(ctx context.Context, in *input) (*output, error) {
			a, p := s.findCopies(ctx, &in.Body)
			if p != nil {
				return nil, p
			}
			return &output{a}, nil
		})
}

// copiesDocument is /v1/copies with a document as its body.
func (s *service) copiesDocument(w http.ResponseWriter, r *http.Request) {
	text, p := s.wholeText(r)
	if p != nil {
		p.write(w)
		return
	}
	a, p := s.findCopies(r.Context(), &copiesRequest{Text: &text, whole: true})
	if p != nil {
		p.write(w)
		return
	}
	writeJSON(w, http.StatusOK, a)
}

// findCopies answers a request.
func (s *service) findCopies(ctx context.Context, in *copiesRequest) (*copiesAnswer, *problem) {
	subject := Subject{Text: in.Text, HTML: in.HTML, whole: in.whole}
	switch {
	case in.Text == nil && in.HTML == nil:
		return nil, misfit("body", "one of text and html is needed")
	case in.Text != nil && in.HTML != nil:
		return nil, misfit("body", "only one of text and html can be given")
	}
	text, _, p := subject.text(ctx, s, "body")
	if p != nil {
		return nil, p
	}
	index := s.copies.acquire()
	if index == nil {
		return nil, broken(errors.New("the index of copies is closed"))
	}
	defer func() {
		if err := s.copies.release(index); err != nil {
			s.log.Error("index of copies not closed", "error", err)
		}
	}()
	c := index.searchers.Get().(*copySearcher)
	defer index.searchers.Put(c)
	threshold := 0.0
	if in.Threshold != nil {
		threshold = *in.Threshold
	}
	if err := c.searcher.Configure(threshold, in.SameSite != nil && *in.SameSite == "skip"); err != nil {
		return nil, misfit("body.threshold", "%v", err)
	}
	sets := c.signer.Sign(text)
	if in.Site != nil {
		sets.Site = copies.SiteOf(*in.Site)
	}
	hits, total, err := c.searcher.Best(ctx, &sets, argumentsOf(ctx).most(in.Limit, limitDefault))
	if err != nil {
		return nil, broken(err)
	}
	return s.describeCopies(hits, total, c.searcher.Compared(&sets)), nil
}

// describeCopies lists hits, as far as an answer has room.
func (s *service) describeCopies(hits []copies.Hit, total int, compared bool) *copiesAnswer {
	a := &copiesAnswer{Compared: compared, Documents: total, Copies: make([]foundCopy, 0, len(hits))}
	room := s.limits.Answer
	for i := range hits {
		h := &hits[i]
		if room -= int64(len(h.ID)); room < 0 {
			break
		}
		p := h.Pair()
		a.Copies = append(a.Copies, foundCopy{ID: h.ID, Relation: string(h.Relation), Method: string(h.Method), Score: h.Score,
			AInB: p.ContainmentA(), BInA: p.ContainmentB(), SizeA: h.SizeA, SizeB: h.SizeB, Shared: h.Shared, Flags: h.Flags.String()})
	}
	a.Truncated = len(a.Copies) < total
	return a
}
