package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
)

const (
	// insertDocsMax documents a request: one insert holds the index's writing
	// side for some hundred microseconds then, not longer.
	insertDocsMax = 4096
	idBytesMax    = 2048
)

// Document is a document to add. An index whose documents have no names
// numbers them; the id is not kept then.
type Document struct {
	ID *string `json:"id,omitempty" minLength:"1" maxLength:"2048" doc:"Id of the document, such as its URL"`
	Subject
}

// insertRequest is the body of /v1/insert: one document, or a list.
type insertRequest struct {
	Document
	Documents *[]Document `json:"documents,omitempty" minItems:"1" maxItems:"4096" doc:"Several documents, instead of one"`
}

// insertedDocument is a document that was added.
type insertedDocument struct {
	ID          string `json:"id" doc:"Id of the document in the index"`
	Number      uint64 `json:"number" doc:"Number of the document in the index"`
	Fingerprint string `json:"fingerprint"`
}

type insertAnswer struct {
	Inserted []insertedDocument `json:"inserted" nullable:"false"`
}

// checkRequest is the body of /v1/check-and-insert.
type checkRequest struct {
	Document
	K     *int `json:"k,omitempty" minimum:"0" maximum:"64" doc:"The document is not added if a stored one is within k bits; the default is the index's own k"`
	Limit *int `json:"limit,omitempty" minimum:"1" maximum:"65536" doc:"Largest number of ids in the answer (default 1000)"`
}

type checkAnswer struct {
	Inserted bool    `json:"inserted" doc:"False if the document was not added because of the near-duplicates in hits"`
	ID       string  `json:"id,omitempty" doc:"If inserted: id of the document in the index"`
	Number   *uint64 `json:"number,omitempty" doc:"If inserted: number of the document in the index"`
	Neighbours
}

func (s *service) registerInsert(api huma.API) {
	type input struct{ Body insertRequest }
	type output struct{ Body *insertAnswer }
	huma.Register(api, operation(http.MethodPost, "/v1/insert", "insert", "Add documents",
		"All documents of the request are added, or none. They are found by every query that begins after the answer. They are kept in memory only and are lost when the server stops."),
		func(ctx context.Context, in *input) (*output, error) {
			a, p := s.insert(ctx, &in.Body)
			if p != nil {
				return nil, p
			}
			return &output{a}, nil
		})

	type checkInput struct{ Body checkRequest }
	type checkOutput struct{ Body *checkAnswer }
	huma.Register(api, operation(http.MethodPost, "/v1/check-and-insert", "check-and-insert", "Add a document unless a near-duplicate is stored",
		"Of two near-duplicates that arrive together exactly one is added."),
		func(ctx context.Context, in *checkInput) (*checkOutput, error) {
			a, p := s.checkAndInsert(ctx, &in.Body)
			if p != nil {
				return nil, p
			}
			return &checkOutput{a}, nil
		})

	type deleteInput struct {
		Body struct {
			ID string `json:"id" minLength:"1" maxLength:"2048" doc:"Id of the document"`
		}
	}
	huma.Register(api, operation(http.MethodPost, "/v1/delete", "delete", "Delete a document (not implemented: 501)", ""),
		func(context.Context, *deleteInput) (*struct{}, error) {
			return nil, refusal(http.StatusNotImplemented, "deletion is not implemented: build an index without the documents")
		})
}

func (s *service) insert(ctx context.Context, in *insertRequest) (*insertAnswer, *problem) {
	list, place := []Document{in.Document}, func(int) string { return "body" }
	if in.Documents != nil {
		if in.ID != nil || in.Fingerprint != nil || in.Text != nil || in.HTML != nil {
			return nil, misfit("body.documents", "give either documents or the fields of one document, not both")
		}
		list, place = *in.Documents, func(i int) string { return fmt.Sprintf("body.documents[%d]", i) }
	}
	docs := make([]engine.Doc, len(list))
	for i := range list {
		var p *problem
		if docs[i], p = s.doc(ctx, &list[i], place(i)); p != nil {
			return nil, p
		}
	}
	x := s.index.Load()
	outcomes, err := x.Insert(ctx, docs...)
	if err != nil {
		return nil, broken(err)
	}
	s.metrics.added.Add(float64(len(docs)))
	answer := &insertAnswer{make([]insertedDocument, len(docs))}
	names := x.IDs()
	for i, d := range docs {
		id := outcomes[i].Doc
		name, err := names.ID(id)
		if err != nil {
			return nil, broken(err)
		}
		answer.Inserted[i] = insertedDocument{name, uint64(id), d.Fingerprint.String()}
	}
	return answer, nil
}

func (s *service) checkAndInsert(ctx context.Context, in *checkRequest) (*checkAnswer, *problem) {
	d, p := s.doc(ctx, &in.Document, "body")
	if p != nil {
		return nil, p
	}
	x := s.index.Load()
	k, p := distance(x, in.K, "body.k")
	if p != nil {
		return nil, p
	}
	limit := limitDefault
	if in.Limit != nil {
		limit = *in.Limit
	}
	outcome, err := x.CheckAndInsert(ctx, d, k, limit)
	if err != nil {
		return nil, broken(err)
	}
	n, p := describe(x, d.Fingerprint, k, outcome.Near, limit)
	if p != nil {
		return nil, p
	}
	answer := &checkAnswer{Inserted: outcome.Inserted, Neighbours: *n}
	if answer.Inserted {
		s.metrics.added.Inc()
		number := uint64(outcome.Doc)
		answer.Number = &number
		if answer.ID, err = x.IDs().ID(outcome.Doc); err != nil {
			return nil, broken(err)
		}
	}
	return answer, nil
}

// doc makes what the engine stores of a document.
func (s *service) doc(ctx context.Context, d *Document, place string) (engine.Doc, *problem) {
	if d.ID == nil {
		return engine.Doc{}, misfit(at(place, "id"), "a document needs an id")
	}
	if p := checkID(*d.ID, at(place, "id")); p != nil {
		return engine.Doc{}, p
	}
	var f simhash.Fingerprint
	f, p := s.fingerprint(ctx, &d.Subject, place)
	if p != nil {
		return engine.Doc{}, p
	}
	return engine.Doc{Fingerprint: f, ID: *d.ID}, nil
}

// checkID refuses names that would break the lines of an answer.
func checkID(id, place string) *problem {
	switch {
	case id == "":
		return misfit(place, "must not be empty")
	case len(id) > idBytesMax:
		return misfit(place, "%d bytes, at most %d are kept", len(id), idBytesMax)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl):
		return misfit(place, "has control characters")
	}
	return nil
}
