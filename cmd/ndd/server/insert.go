package server

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// insertRequest is the body of /v1/insert: one document, or a list.
type insertRequest struct {
	Document
	Documents *[]Document `json:"documents,omitempty" minItems:"1" maxItems:"4096" doc:"Several documents, instead of one"`
}

// insertAnswer says what became of a document.
type insertAnswer struct {
	ItemResult
	Inserted    bool    `json:"inserted" doc:"Whether the document is in the index now"`
	ID          string  `json:"id,omitempty" doc:"Id of the document in the index"`
	Number      *uint64 `json:"number,omitempty" doc:"Number of the document in the index"`
	Fingerprint string  `json:"fingerprint,omitempty" doc:"16 hexadecimal digits, or twice 16 with a comma where documents have two fingerprints"`
	Replaced    bool    `json:"replaced,omitempty" doc:"Whether it took the place of a document with the same id"`
	Kept        bool    `json:"kept,omitempty" doc:"Whether it was not added, since there was a document with the same id, whose number this is (on_conflict keep)"`
}

// insertAnswers says what became of each document of a list, in its order.
type insertAnswers struct {
	Results []insertAnswer `json:"results" nullable:"false" doc:"What became of each document, in the order of the request"`
}

// registerInsert adds /v1/insert to the API.
func (s *service) registerInsert(api huma.API) {
	type input struct{ Body insertRequest }
	type output struct{ Body any }
	o := operation(http.MethodPost, "/v1/insert", "insert", "Add documents",
		"Adds a document, or each of a list; of a list, documents that cannot be added are told of in their results, and all others are added together. When the answer comes they are durable, unless the server was started with --memory-only or another --sync, and every query that begins then finds them. A document with the id of another replaces it, unless --on-conflict says otherwise.")
	o.Responses = oneOrAll(api, reflect.TypeFor[insertAnswer](), reflect.TypeFor[insertAnswers]())
	huma.Register(api, o, func(ctx context.Context, in *input) (*output, error) {
		results, p := s.insertJSON(ctx, &in.Body)
		switch {
		case p != nil:
			return nil, p
		case in.Body.Documents == nil:
			return &output{results[0].alone()}, nil
		}
		return &output{&insertAnswers{results}}, nil
	})
}

// insertJSON is insert for a body of JSON.
func (s *service) insertJSON(ctx context.Context, in *insertRequest) ([]insertAnswer, *problem) {
	if p := noIDBeside(ctx); p != nil {
		return nil, p
	}
	return s.insert(ctx, in)
}

// quickInsert is /v1/insert for bodies that are as most are.
func (s *service) quickInsert(w http.ResponseWriter, v *visit) bool {
	in, ok := decodeInsert(v.body, s.limits.Documents)
	if !ok {
		return false
	}
	results, p := s.insertJSON(v, in)
	if p != nil {
		p.write(w)
		return true
	}
	sendResults(w, results, in.Documents == nil, (*insertAnswer).append, insertAnswer.alone)
	return true
}

// sendResults answers 200 with what became of one document, or of each of several.
func sendResults[T any](w http.ResponseWriter, results []T, one bool, add func(*T, []byte) []byte, alone func(T) *T) {
	send(w, func(out []byte) []byte {
		if one {
			return add(alone(results[0]), out)
		}
		out = append(out, `{"results":`...)
		out = appendList(out, results, add)
		return append(out, '}')
	})
}

// oneOrAll describes an answer for one document or for several.
func oneOrAll(api huma.API, one, all reflect.Type) map[string]*huma.Response {
	schemas := api.OpenAPI().Components.Schemas
	return map[string]*huma.Response{"200": {Description: "What became of the document, or of each.", Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{OneOf: []*huma.Schema{schemas.Schema(one, true, ""), schemas.Schema(all, true, "")}}},
	}}}
}

// insertDocument is /v1/insert with a document as its body.
func (s *service) insertDocument(w http.ResponseWriter, r *http.Request) {
	d, p := s.documentBody(r)
	if p != nil {
		p.write(w)
		return
	}
	results, p := s.insert(r.Context(), &insertRequest{Document: *d})
	if p != nil {
		p.write(w)
		return
	}
	send(w, results[0].alone().append)
}

// insert adds the documents of a request, those that can be added as a whole.
func (s *service) insert(ctx context.Context, in *insertRequest) ([]insertAnswer, *problem) {
	list, p := s.items(ctx, &in.Document, in.Documents)
	if p != nil {
		return nil, p
	}
	docs := sound(list)
	outcomes, err := s.index.Load().Insert(ctx, docs...)
	if err != nil {
		return nil, broken(err)
	}
	results := make([]insertAnswer, len(list))
	for i := range list {
		if list[i].fail != nil {
			results[i].ItemResult = list[i].result()
			continue
		}
		o, d, number := &outcomes[0], docs[0], uint64(outcomes[0].Doc)
		list[i].fail = s.conflict(ctx, d, o)
		results[i] = insertAnswer{list[i].result(), o.Inserted, idOf(d, o.Doc), &number, s.sketchOf(d).String(), o.Replaced, !o.Inserted}
		if o.Inserted {
			s.metrics.added.Inc()
		}
		outcomes, docs = outcomes[1:], docs[1:]
	}
	if in.Documents == nil && list[0].fail != nil {
		return nil, list[0].fail
	}
	return results, nil
}

// alone returns an answer for a single document, whose status is that of the response.
func (a insertAnswer) alone() *insertAnswer {
	a.ItemResult = ItemResult{}
	return &a
}
