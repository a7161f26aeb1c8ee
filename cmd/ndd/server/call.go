package server

import (
	"context"
	"net/http"

	"example.org/ndd/cmd/ndd/server/access"
	"example.org/ndd/cmd/ndd/server/admit"
	"example.org/ndd/cmd/ndd/server/strict"
	"example.org/ndd/engine"
)

// A route is one endpoint: its role, its media types, its gate and its handler.
type route struct {
	pattern     string      // pattern of http.ServeMux
	minimumRole access.Role // minimum role of the client
	accepts     []string    // media types of the body, the first one by default; nil: no body is read
	takes       []string    // query parameters
	gate        *admit.Gate
	streams     bool // the answer is written while it is made

	// One of these handles a request. Only make gets the index.
	make  handler
	serve http.HandlerFunc // writes the answer
}

// A handler turns a call into a reply. A problem is sent instead of the reply's value.
type handler func(context.Context, *call) (reply, *problem)

// A call is a request that was checked, admitted and read, as its handler gets it.
type call struct {
	arguments
	payload
	client access.Client
	index  *engine.Index
	memory *admit.Transfer // pays for the answer
}

// A payload is the body of a request.
type payload struct {
	media       string // one of those that the route accepts
	contentType string // the same, with the charset of a document
	body        []byte // valid until the answer is written
}

// A reply is what a handler returns.
type reply struct {
	value  any        // sent as JSON
	rows   *rowStream // sent instead, if there is one
	effect effect
}

// An effect is what a request did to documents.
type effect struct {
	documents, changed int
	id, outcome        string   // ID and outcome of the last document
	rest               *problem // problem of the documents of a list that were not reached; nil: all were
}

// decoding returns a handler of bodies that are a T in JSON, read strictly, or a whole document if a T has
// a method setText.
func decoding[T any](handle func(context.Context, *call, *T) (reply, *problem)) handler {
	return func(ctx context.Context, c *call) (reply, *problem) {
		in := new(T)
		document, whole := any(in).(interface{ setText(string) })
		if c.media == mediaJSON {
			if err := strict.Read(c.body, in); err != nil {
				return reply{}, mistake(err, whole)
			}
			return handle(ctx, c, in)
		}
		text, err := textOf(ctx, c.index.Recipe(), c.body, c.contentType)
		if err != nil {
			return reply{}, errorProblem(err)
		}
		document.setText(text)
		return handle(ctx, c, in)
	}
}

// mistake returns the answer to a body with a mistake. If the body may be a whole document, the answer says how.
func mistake(err *strict.Error, isWholeDocument bool) *problem {
	p := fieldProblem(err.Place, "%s", err.Message)
	if err.Syntax {
		p.Status, p.Title = http.StatusBadRequest, http.StatusText(http.StatusBadRequest)
		if isWholeDocument {
			p.Detail += "; a document itself is sent with the header Content-Type: text/plain or text/html"
		}
	}
	return p
}
