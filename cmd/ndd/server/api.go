package server

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// newAPI is huma on our mux: JSON only, unknown fields and parameters refused,
// no pages that load scripts from elsewhere.
func newAPI(m *mux, version string) huma.API {
	c := huma.DefaultConfig("ndd", version)
	c.Info.Description = "Near-duplicates of documents and fingerprints, exactly: everything stored within k bits of a 64-bit fingerprint."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil // no $schema links into answers
	c.RejectUnknownQueryParameters = true
	c.Transformers = []huma.Transformer{m.service.takeTrouble, m.service.explain, tersen}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "Needed where the server was started with a token file."},
	}
	m.service.schemas = c.Components.Schemas
	return humago.New(deafMux{m}, c)
}

// operation returns what all JSON endpoints have in common.
func operation(method, path, id, summary, description string) huma.Operation {
	return huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary, Description: description,
		MaxBodyBytes:    -1, // mux.go bounds it
		BodyReadTimeout: -1, // the body is in memory already
		Errors:          []int{400, 401, 403, 413, 415, 429, 503},
	}
}

// limitDocuments sets how many documents a list may have.
func limitDocuments(api huma.API, most int) {
	schemas := api.OpenAPI().Components.Schemas.Map()
	for _, name := range []string{"InsertRequest", "CheckRequest", "DeleteRequest"} {
		for _, field := range []string{"documents", "ids"} {
			if list := schemas[name].Properties[field]; list != nil {
				list.MaxItems = &most
				list.PrecomputeMessages()
			}
		}
	}
}

// deafMux hides from huma that a client has gone: huma takes a failed write
// for a bug, and panics.
type deafMux struct{ *mux }

func (m deafMux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h(deafWriter{w}, r) })
}

type deafWriter struct{ http.ResponseWriter }

func (w deafWriter) Write(p []byte) (int, error) {
	w.ResponseWriter.Write(p)
	return len(p), nil
}

// Unwrap lets http.ResponseController through.
func (w deafWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// at returns a place in a request, such as body.documents[3].
func at(parts ...string) string { return strings.Join(parts, ".") }
