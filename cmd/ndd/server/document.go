package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ndd/engine"
)

const (
	// idMax is the longest id, in characters.
	idMax = 2048
)

// Document is a document to add. It has an id, unless the index was built from raw fingerprints: such
// an index numbers its documents and keeps no ids.
type Document struct {
	ID *string `json:"id,omitempty" minLength:"1" maxLength:"2048" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$" patternDescription:"text without control characters" doc:"Id of the document, such as its URL; not for an index of raw fingerprints, which numbers its documents"`
	Subject
}

// ItemResult is what became of one document, in an answer that has one for each.
type ItemResult struct {
	Status int    `json:"status,omitempty" doc:"In an answer for several documents: what the status would be of a request for this one alone, such as 200 or 422"`
	Error  string `json:"error,omitempty" doc:"In an answer for several documents: why this one was not decided upon"`
}

// An item is one document of a request: what the engine stores of it, or why it cannot be stored.
type item struct {
	doc  engine.Doc
	fail *problem
}

// result returns an item's part of an answer for several.
func (i *item) result() ItemResult {
	if i.fail != nil {
		return ItemResult{Status: i.fail.Status, Error: i.fail.Detail}
	}
	return ItemResult{Status: http.StatusOK}
}

// items returns the documents of a request: of one, which the problem is about, or of a list, in which each
// has a problem of its own.
func (s *service) items(ctx context.Context, one *Document, several *[]Document) ([]item, *problem) {
	if several == nil {
		d, p := s.document(ctx, one, "body")
		return []item{{doc: d}}, p
	}
	if one.ID != nil || one.Fingerprint != nil || one.Text != nil || one.HTML != nil {
		return nil, misfit("body.documents", "give either documents or the fields of one document, not both")
	}
	list := make([]item, len(*several))
	for i := range *several {
		if err := ctx.Err(); err != nil {
			return nil, broken(err)
		}
		list[i].doc, list[i].fail = s.document(ctx, &(*several)[i], fmt.Sprintf("body.documents[%d]", i))
	}
	return list, nil
}

// sound returns the documents of those items that can be stored.
func sound(list []item) []engine.Doc {
	docs := make([]engine.Doc, 0, len(list))
	for i := range list {
		if list[i].fail == nil {
			docs = append(docs, list[i].doc)
		}
	}
	return docs
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
	s.lifetime(ctx, &doc)
	of, p := s.sketch(ctx, &d.Subject, place)
	of.put(&doc)
	return doc, p
}

// noIDBeside refuses an id beside a JSON body, which has its ids within.
func noIDBeside(ctx context.Context) *problem {
	if argumentsOf(ctx).id != nil {
		return misfit("query.id", "a JSON body has the ids in its documents: ?id= and the header %s are for a body that is the document itself", idHeader)
	}
	return nil
}

// documentBody returns the document that is a request's whole body, of text/plain or text/html.
func (s *service) documentBody(r *http.Request) (*Document, *problem) {
	a := argumentsOf(r.Context())
	if a.id == nil && s.index.Load().Live().Config().IDs {
		return nil, misfit("query.id", "a document that is the whole body needs an id: ?id=..., or the header %s", idHeader)
	}
	text, p := s.wholeText(r)
	if p != nil {
		return nil, p
	}
	return &Document{ID: a.id, Subject: Subject{Text: &text, whole: true}}, nil
}

// idOf returns the id of a document that was added under the given number.
func idOf(d engine.Doc, number engine.DocID) string {
	if d.ID != "" {
		return d.ID
	}
	return strconv.FormatUint(uint64(number), 10)
}

// checkID refuses ids that would break the lines of an answer.
func checkID(id, place string) *problem {
	switch {
	case id == "":
		return misfit(place, "must not be empty")
	case utf8.RuneCountInString(id) > idMax:
		return misfit(place, "%d characters, at most %d are kept", utf8.RuneCountInString(id), idMax)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl):
		return misfit(place, "has control characters")
	}
	return nil
}
