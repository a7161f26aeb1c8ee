package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine"
)

// checkRequest is the body of /v1/check-and-insert: one document, or a list.
type checkRequest struct {
	Document
	Documents *[]Document `json:"documents,omitempty" minItems:"1" maxItems:"4096" doc:"Several documents, instead of one; they are decided upon in order, and near each other, too"`
	K         *integer    `json:"k,omitempty" doc:"A document is not added if a stored one is within k bits; the default is the index's own k"`
	Limit     *integer    `json:"limit,omitempty" minimum:"1" maximum:"65536" doc:"Largest number of ids of near-duplicates for each document (default 1000; 1 for each of several)"`
}

// checkAnswer says what became of one document. A document of a list that could not be decided upon has no
// Neighbours.
type checkAnswer struct {
	ItemResult
	Inserted bool    `json:"inserted" doc:"False if the document was not added because of the near-duplicates in hits"`
	ID       string  `json:"id,omitempty" doc:"If inserted or kept: id of the document in the index"`
	Number   *uint64 `json:"number,omitempty" doc:"If inserted or kept: number of the document in the index"`
	Replaced bool    `json:"replaced,omitempty" doc:"Whether it took the place of a document with the same id"`
	Kept     bool    `json:"kept,omitempty" doc:"Whether it was not added, since there was a document with the same id (on_conflict keep)"`
	*Neighbours
}

// checkAnswers says what became of each document of a list, in its order.
type checkAnswers struct {
	Results []checkAnswer `json:"results" nullable:"false" doc:"What became of each document, in the order of the request"`
}

// registerCheck adds /v1/check-and-insert to the API.
func (s *service) registerCheck(api huma.API) {
	type input struct{ Body checkRequest }
	type output struct{ Body any }
	o := operation(http.MethodPost, "/v1/check-and-insert", "check-and-insert", "Add a document unless a near-duplicate is stored",
		"Of two near-duplicates that arrive together, in one request or in two, exactly one is added; the answer for the other has the one that holds its place, and the distance. A request of several documents is answered with results, one for each in order.")
	o.Responses = oneOrAll(api, reflect.TypeFor[checkAnswer](), reflect.TypeFor[checkAnswers]())
	huma.Register(api, o, func(ctx context.Context, in *input) (*output, error) {
		results, p := s.checkAndInsertJSON(ctx, &in.Body)
		switch {
		case p != nil:
			return nil, p
		case in.Body.Documents == nil:
			return &output{results[0].alone()}, nil
		}
		return &output{&checkAnswers{results}}, nil
	})
}

// checkAndInsertJSON is checkAndInsert for a body of JSON.
func (s *service) checkAndInsertJSON(ctx context.Context, in *checkRequest) ([]checkAnswer, *problem) {
	if p := noIDBeside(ctx); p != nil {
		return nil, p
	}
	return s.checkAndInsert(ctx, in)
}

// quickCheck is /v1/check-and-insert for bodies that are as most are.
func (s *service) quickCheck(w http.ResponseWriter, v *visit) bool {
	in, ok := decodeCheck(v.body, s.limits.Documents)
	if !ok {
		return false
	}
	results, p := s.checkAndInsertJSON(v, in)
	if p != nil {
		p.write(w)
		return true
	}
	sendResults(w, results, in.Documents == nil, (*checkAnswer).append, checkAnswer.alone)
	return true
}

// checkDocument is /v1/check-and-insert with a document as its body.
func (s *service) checkDocument(w http.ResponseWriter, r *http.Request) {
	d, p := s.documentBody(r)
	if p != nil {
		p.write(w)
		return
	}
	results, p := s.checkAndInsert(r.Context(), &checkRequest{Document: *d})
	if p != nil {
		p.write(w)
		return
	}
	send(w, results[0].alone().append)
}

// checkAndInsert adds the documents of a request that are not near one that is stored.
func (s *service) checkAndInsert(ctx context.Context, in *checkRequest) ([]checkAnswer, *problem) {
	a, x := argumentsOf(ctx), s.index.Load()
	k, p := a.distance(x, in.K)
	if p != nil {
		return nil, p
	}
	list, p := s.items(ctx, &in.Document, in.Documents)
	if p != nil {
		return nil, p
	}
	limit := limitDefault
	if in.Documents != nil {
		limit = 1
	}
	limit = a.most(in.Limit, limit)
	docs := sound(list)
	s.metrics.checked.Add(float64(len(docs)))
	outcomes, err := x.CheckAndInsertAll(ctx, docs, k, limit)
	var brokenOff *problem // before all were decided upon
	if err != nil {
		if brokenOff = broken(err); len(outcomes) == 0 {
			return nil, brokenOff
		}
		s.notice(brokenOff.cause)
	}
	results := make([]checkAnswer, len(list))
	for i := range list {
		switch {
		case list[i].fail != nil:
		case len(outcomes) == 0:
			list[i].fail = brokenOff
		default:
			if results[i], err = s.outcome(x, docs[0], outcomes[0], k, limit); err != nil {
				return nil, broken(err)
			}
			list[i].fail = s.conflict(ctx, docs[0], &outcomes[0])
			outcomes, docs = outcomes[1:], docs[1:]
		}
		results[i].ItemResult = list[i].result()
	}
	if in.Documents == nil && list[0].fail != nil {
		return nil, list[0].fail
	}
	return results, nil
}

// outcome describes what became of a document.
func (s *service) outcome(x *engine.Index, d engine.Doc, o engine.Outcome, k, limit int) (checkAnswer, error) {
	n, err := s.describe(x, s.sketchOf(d), k, o.Near, limit)
	if errors.Is(err, engine.ErrNoDocument) { // replaced since: what kept this one out is known
		nearest := o.Near[0]
		n, err = &Neighbours{Fingerprint: s.sketchOf(d).String(), K: k, Documents: 1, Truncated: true, Hits: []hit{
			{Fingerprint: nearest.Fingerprint.String(), Distance: nearest.Distance, Documents: 1, IDs: []string{cmp.Or(o.ID, idOf(engine.Doc{}, nearest.Docs[0]))}}}}, nil
	}
	if err != nil {
		return checkAnswer{}, err
	}
	a := checkAnswer{Inserted: o.Inserted, Replaced: o.Replaced, Kept: !o.Inserted && len(o.Near) == 0, Neighbours: n}
	if o.Inserted {
		s.metrics.added.Inc()
	}
	if o.Inserted || a.Kept {
		number := uint64(o.Doc)
		a.ID, a.Number = idOf(d, o.Doc), &number
	}
	return a, nil
}

// alone returns an answer for a single document, whose status is that of the response.
func (a checkAnswer) alone() *checkAnswer {
	a.ItemResult = ItemResult{}
	return &a
}
