package server

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/strict"
	"ndd/engine"
	"ndd/engine/corpus/simhash"
)

// documents handles the requests that change what the index holds.
type documents struct{ *service }

// A deleteRequest is the body of /v1/delete.
type deleteRequest struct {
	Fingerprint *hexPrint           `json:"fingerprint"`
	ID          *string             `json:"id"`
	IDs         strict.List[string] `json:"ids"`
	Prefix      *string             `json:"prefix"`
}

type deleteAnswer struct {
	Deleted int `json:"deleted"`
}

// delete is /v1/delete.
func (s documents) delete(v *visit) (any, *problem) {
	in := new(deleteRequest)
	p := v.decode(in)
	if p == nil {
		p = oneOf("body", "id, ids, prefix and fingerprint", in.ID != nil, in.IDs != nil, in.Prefix != nil,
			in.Fingerprint != nil)
	}
	if p != nil {
		return nil, p
	}
	if in.Prefix != nil {
		if v.client.Role < access.Admin {
			return nil, refusal(http.StatusForbidden,
				fmt.Sprintf("body.prefix: the client's role is %s, %s is needed", v.client.Role, access.Admin))
		}
		if wrong := v.arguments.set("prefix", *in.Prefix); wrong != "" {
			return nil, misfit("body.prefix", "%s", wrong)
		}
		return s.deletePrefix(v)
	}
	x, deleted := v.index(), 0
	var err error
	switch {
	case in.ID != nil && (*in.ID == "" || utf8.RuneCountInString(*in.ID) > idMax):
		return nil, misfit("body.id", "expected 1 to %d characters", idMax)
	case in.Fingerprint != nil:
		deleted, err = s.deleting(func() (int, error) {
			return x.DeleteFingerprint(v, simhash.Fingerprint(*in.Fingerprint))
		})
	case !x.Live().Config().IDs:
		return nil, misfit("body", "the index was built from raw fingerprints and keeps no ids: delete by fingerprint")
	default:
		if in.ID != nil {
			in.IDs = []string{*in.ID}
		}
		deleted, err = s.deleting(func() (int, error) { return x.Delete(v, in.IDs...) })
	}
	if err != nil {
		return nil, broken(err)
	}
	if in.ID != nil {
		v.noted = noted{documents: 1, id: *in.ID, outcome: "not there"}
		if deleted > 0 {
			v.noted.outcome = "deleted"
		}
	}
	return &deleteAnswer{deleted}, nil
}

// listedMax is how many documents one page looks at: some 50 ms of work. A prefix that few of them
// have makes short pages.
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

// wantIDs refuses a request for ids if the index has none.
func (s documents) wantIDs(v *visit) *problem {
	if v.index().Live().Config().IDs {
		return nil
	}
	return refusal(http.StatusUnprocessableEntity, "the index was built from raw fingerprints and keeps no ids")
}

// get is GET /v1/documents/ID.
func (s documents) get(v *visit) (any, *problem) {
	id := v.request.PathValue("id")
	if why := badID(id); why != "" {
		return nil, misfit("path.id", "%s", why)
	}
	if p := s.wantIDs(v); p != nil {
		return nil, p
	}
	doc, ok, err := v.index().Find(id)
	switch {
	case err != nil:
		return nil, broken(err)
	case !ok:
		return nil, refusal(http.StatusNotFound, "no document has the id "+strconv.Quote(id))
	}
	return &storedDocument{id, uint64(doc)}, nil
}

// list is GET /v1/documents.
func (s documents) list(v *visit) (any, *problem) {
	return s.page(v, v.arguments.cursor, v.limit(nil, limitDefault))
}

// page returns the documents from one on whose ids have the prefix, limit of them at most.
func (s documents) page(v *visit, from engine.DocID, limit int) (*documentPage, *problem) {
	if p := s.wantIDs(v); p != nil {
		return nil, p
	}
	view, err := v.index().View()
	if err != nil {
		return nil, broken(err)
	}
	defer view.Release()
	a, room, seen := &documentPage{Documents: []storedDocument{}}, s.limits.Answer, 0
	err = view.List(v, from, func(doc engine.DocID, id string) bool {
		if seen++; seen > listedMax || len(a.Documents) == limit || room <= 0 {
			a.Next = strconv.FormatUint(uint64(doc), 10)
			return false
		}
		if strings.HasPrefix(id, v.arguments.prefix) {
			a.Documents = append(a.Documents, storedDocument{id, uint64(doc)})
			room -= int64(len(id))
		}
		return true
	})
	if err != nil {
		return nil, broken(err)
	}
	return a, nil
}

// deletePrefix is DELETE /v1/documents, which ends early only with its client, and /v1/delete with a
// prefix.
func (s documents) deletePrefix(v *visit) (any, *problem) {
	if v.arguments.prefix == "" {
		return nil, misfit("query.prefix", "is needed: documents whose ids begin with it are deleted")
	}
	if p := s.wantIDs(v); p != nil {
		return nil, p
	}
	n, err := s.deleting(func() (int, error) { return v.index().DeletePrefix(v, v.arguments.prefix) })
	if err != nil {
		return nil, broken(err)
	}
	return &deleteAnswer{n}, nil
}
