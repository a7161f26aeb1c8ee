package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.org/ndd/cmd/ndd/server/strict"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
)

// documents handles the requests that change or list documents.
type documents struct{ queries }

// A deleteRequest is the body of /v1/delete.
type deleteRequest struct {
	Fingerprint *hexPrint           `json:"fingerprint"`
	ID          *string             `json:"id"`
	IDs         strict.List[string] `json:"ids"`
}

type deleteAnswer struct {
	Deleted int `json:"deleted"`
}

// delete is /v1/delete.
func (s documents) delete(ctx context.Context, c *call, in *deleteRequest) (reply, *problem) {
	// Exactly one field selects the documents.
	if p := oneOf("body", "id, ids and fingerprint", in.ID != nil, in.IDs != nil, in.Fingerprint != nil); p != nil {
		return reply{}, p
	}
	// Delete by fingerprint or by IDs.
	x, deleted := c.index, 0
	var err error
	switch {
	case in.ID != nil && (*in.ID == "" || utf8.RuneCountInString(*in.ID) > idMax):
		return reply{}, fieldProblem("body.id", "expected 1 to %d characters", idMax)
	case in.Fingerprint != nil:
		deleted, err = x.DeleteFingerprint(ctx, simhash.Fingerprint(*in.Fingerprint))
	case !live.Unwrap(x).Config().IDs:
		return reply{}, fieldProblem("body", "the index was built from raw fingerprints and keeps no ids: delete by fingerprint")
	default:
		if in.ID != nil {
			in.IDs = []string{*in.ID}
		}
		deleted, err = x.Delete(ctx, in.IDs...)
	}
	s.metrics.deleted.Add(float64(deleted))
	if err != nil {
		return reply{}, errorProblem(err)
	}
	// The access log has the outcome of a single ID.
	done := reply{value: &deleteAnswer{deleted}}
	if in.ID != nil {
		done.effect = effect{documents: 1, id: *in.ID, outcome: "not there"}
		if deleted > 0 {
			done.effect.outcome = "deleted"
		}
	}
	return done, nil
}

// listedMax is the maximum number of documents that are read for one page, in about 50 ms. Pages are short if few
// documents have the prefix.
const listedMax = 1 << 20

// A storedDocument is a document of the index.
type storedDocument struct {
	ID     string `json:"id"`
	Number uint64 `json:"number"`
}

// A documentPage is a part of the documents of the index, in order of their numbers.
type documentPage struct {
	Documents []storedDocument `json:"documents"`
	Next      string           `json:"next,omitempty"` // cursor of the next page
}

// idsProblem refuses a request for ids if the index has none.
func idsProblem(x *engine.Index) *problem {
	if live.Unwrap(x).Config().IDs {
		return nil
	}
	return newProblem(http.StatusUnprocessableEntity, "the index was built from raw fingerprints and keeps no ids")
}

// get is GET /v1/documents/ID.
func (s documents) get(_ context.Context, c *call) (reply, *problem) {
	if err := checkID(c.id); err != nil {
		return reply{}, fieldProblem("path.id", "%v", err)
	}
	if p := idsProblem(c.index); p != nil {
		return reply{}, p
	}
	doc, ok, err := c.index.Find(c.id)
	switch {
	case err != nil:
		return reply{}, errorProblem(err)
	case !ok:
		return reply{}, newProblem(http.StatusNotFound, "no document has the id "+strconv.Quote(c.id))
	}
	return reply{value: &storedDocument{c.id, uint64(doc)}}, nil
}

// A listRequest has the parameters of GET /v1/documents.
type listRequest struct {
	Cursor cursor   `json:"cursor"`
	Limit  *idLimit `json:"limit"`
	Prefix idPrefix `json:"prefix"`
}

// list is GET /v1/documents.
func (s documents) list(ctx context.Context, c *call, in *listRequest) (reply, *problem) {
	if p := idsProblem(c.index); p != nil {
		return reply{}, p
	}
	view, err := c.index.View()
	if err != nil {
		return reply{}, errorProblem(err)
	}
	defer view.Release()
	a, room, seen, limit := &documentPage{Documents: []storedDocument{}}, s.answerBytes, 0, limitOr(in.Limit, limitDefault)
	err = view.List(ctx, engine.DocID(in.Cursor), func(doc engine.DocID, id string) bool {
		if seen++; seen > listedMax || len(a.Documents) == limit || room <= 0 {
			a.Next = strconv.FormatUint(uint64(doc), 10)
			return false
		}
		if strings.HasPrefix(id, string(in.Prefix)) {
			a.Documents = append(a.Documents, storedDocument{id, uint64(doc)})
			room -= int64(len(id))
		}
		return true
	})
	if err != nil {
		return reply{}, errorProblem(err)
	}
	return reply{value: a}, nil
}

// A deletePrefixRequest has the parameter of DELETE /v1/documents.
type deletePrefixRequest struct {
	Prefix idPrefix `json:"prefix"`
}

// deletePrefix handles DELETE /v1/documents. It ends early only if the client disconnects.
func (s documents) deletePrefix(ctx context.Context, c *call, in *deletePrefixRequest) (reply, *problem) {
	if in.Prefix == "" {
		return reply{}, fieldProblem("query.prefix", "is needed: documents whose ids begin with it are deleted")
	}
	if p := idsProblem(c.index); p != nil {
		return reply{}, p
	}
	n, err := c.index.DeletePrefix(ctx, string(in.Prefix))
	s.metrics.deleted.Add(float64(n))
	if err != nil {
		return reply{}, errorProblem(err)
	}
	return reply{value: &deleteAnswer{n}}, nil
}
