package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine"
)

const (
	// insertDocsMax documents a request: one insert holds the index's writing
	// side for some hundred microseconds then, not longer.
	insertDocsMax = 4096
	idBytesMax    = 2048
)

// Document is a document to add. It has an id, unless the index was built from raw fingerprints: such
// an index numbers its documents and keeps no ids.
type Document struct {
	ID *string `json:"id,omitempty" minLength:"1" maxLength:"2048" doc:"Id of the document, such as its URL; not for an index of raw fingerprints, which numbers its documents"`
	Subject
}

// insertRequest is the body of /v1/insert: one document, or a list.
type insertRequest struct {
	Document
	Documents *[]Document `json:"documents,omitempty" minItems:"1" maxItems:"4096" doc:"Several documents, instead of one"`
}

// insertedDocument says what became of a document.
type insertedDocument struct {
	ID          string `json:"id" doc:"Id of the document in the index"`
	Number      uint64 `json:"number" doc:"Number of the document in the index"`
	Fingerprint string `json:"fingerprint"`
	Replaced    bool   `json:"replaced,omitempty" doc:"Whether it took the place of a document with the same id"`
	Kept        bool   `json:"kept,omitempty" doc:"Whether it was not added, since there was a document with the same id, whose number this is (on_conflict keep)"`
}

type insertAnswer struct {
	Inserted []insertedDocument `json:"inserted" nullable:"false" doc:"What became of each document, in the order of the request"`
}

func (s *service) registerInsert(api huma.API) {
	type input struct{ Body insertRequest }
	type output struct{ Body *insertAnswer }
	huma.Register(api, operation(http.MethodPost, "/v1/insert", "insert", "Add documents",
		"All documents of the request are added, or none. When the answer comes they are durable, unless the server was started with --memory-only or another --sync, and every query that begins then finds them. A document with the id of another replaces it, unless --on-conflict says otherwise."),
		func(ctx context.Context, in *input) (*output, error) {
			a, p := s.insert(ctx, &in.Body)
			if p != nil {
				return nil, p
			}
			return &output{a}, nil
		})
}

func (s *service) insert(ctx context.Context, in *insertRequest) (*insertAnswer, *problem) {
	docs, p := s.documents(ctx, &in.Document, in.Documents)
	if p != nil {
		return nil, p
	}
	x := s.index.Load()
	outcomes, err := x.Insert(ctx, docs...)
	if err != nil {
		return nil, broken(err)
	}
	answer := &insertAnswer{make([]insertedDocument, len(docs))}
	for i, d := range docs {
		o := &outcomes[i]
		answer.Inserted[i] = insertedDocument{idOf(d, o.Doc), uint64(o.Doc), d.Fingerprint.String(), o.Replaced, !o.Inserted}
		if o.Inserted {
			s.metrics.added.Inc()
		}
	}
	return answer, nil
}

// documents returns what the engine stores of the documents of a request: of one, or of a list.
func (s *service) documents(ctx context.Context, one *Document, several *[]Document) ([]engine.Doc, *problem) {
	if several == nil {
		d, p := s.document(ctx, one, "body")
		return []engine.Doc{d}, p
	}
	if one.ID != nil || one.Fingerprint != nil || one.Text != nil || one.HTML != nil {
		return nil, misfit("body.documents", "give either documents or the fields of one document, not both")
	}
	docs := make([]engine.Doc, len(*several))
	for i := range *several {
		var p *problem
		if docs[i], p = s.document(ctx, &(*several)[i], fmt.Sprintf("body.documents[%d]", i)); p != nil {
			return nil, p
		}
	}
	return docs, nil
}

// document returns what the engine stores of a document.
func (s *service) document(ctx context.Context, d *Document, place string) (doc engine.Doc, p *problem) {
	switch ids := s.index.Load().Live().Config().IDs; {
	case ids && d.ID == nil:
		return doc, misfit(at(place, "id"), "a document needs an id")
	case !ids && d.ID != nil:
		return doc, misfit(at(place, "id"), "the index was built from raw fingerprints and keeps no ids: leave it out, the answer has the document's number")
	case ids:
		if p := checkID(*d.ID, at(place, "id")); p != nil {
			return doc, p
		}
		doc.ID = *d.ID
	}
	doc.Fingerprint, p = s.fingerprint(ctx, &d.Subject, place)
	return doc, p
}

// idOf returns the id of a document that was added under the given number.
func idOf(d engine.Doc, number engine.DocID) string {
	if d.ID != "" {
		return d.ID
	}
	return strconv.FormatUint(uint64(number), 10)
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
