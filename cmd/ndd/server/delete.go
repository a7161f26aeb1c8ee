package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// deleteRequest is the body of /v1/delete: what documents are deleted.
type deleteRequest struct {
	ID          *string   `json:"id,omitempty" minLength:"1" maxLength:"2048" doc:"Id of a document"`
	IDs         *[]string `json:"ids,omitempty" minItems:"1" maxItems:"4096" doc:"Ids of several documents"`
	Fingerprint *string   `json:"fingerprint,omitempty" pattern:"^[0-9a-fA-F]{16}(,[0-9a-fA-F]{16})?$" patternDescription:"16 hexadecimal digits (and 16 more after a comma, where documents have two fingerprints)" doc:"All documents with exactly this fingerprint, or, where documents have two, with both of these"`
}

type deleteAnswer struct {
	Deleted int `json:"deleted" doc:"Number of documents that were there and are deleted; deleting what is not there is no error"`
}

// registerDelete adds /v1/delete to the API.
func (s *service) registerDelete(api huma.API) {
	type input struct{ Body deleteRequest }
	type output struct{ Body *deleteAnswer }
	huma.Register(api, operation(http.MethodPost, "/v1/delete", "delete", "Delete documents",
		"Deletes by id, by ids, or by fingerprint. When the answer comes the deletion is as durable as an insert is, and no query that begins then finds the documents."),
		func(ctx context.Context, in *input) (*output, error) {
			n, p := s.delete(ctx, &in.Body)
			if p != nil {
				return nil, p
			}
			return &output{&deleteAnswer{n}}, nil
		})
}

func (s *service) delete(ctx context.Context, in *deleteRequest) (deleted int, p *problem) {
	given := 0
	for _, is := range []bool{in.ID != nil, in.IDs != nil, in.Fingerprint != nil} {
		if is {
			given++
		}
	}
	switch given {
	case 0:
		return 0, misfit("body", "one of id, ids and fingerprint is needed")
	case 1:
	default:
		return 0, misfit("body", "only one of id, ids and fingerprint can be given")
	}
	x := s.index.Load()
	var err error
	if in.Fingerprint != nil {
		prints, p := s.parsePrints(*in.Fingerprint, "body.fingerprint")
		if p != nil {
			return 0, p
		}
		deleted, err = x.DeleteFingerprint(ctx, prints...)
	} else {
		if !x.Live().Config().IDs {
			return 0, misfit("body", "the index was built from raw fingerprints and keeps no ids: delete by fingerprint")
		}
		var ids []string
		if in.ID != nil {
			ids = []string{*in.ID}
		} else {
			ids = *in.IDs
		}
		deleted, err = x.Delete(ctx, ids...)
	}
	if err != nil {
		return 0, broken(err)
	}
	s.metrics.deleted.Add(float64(deleted))
	return deleted, nil
}
