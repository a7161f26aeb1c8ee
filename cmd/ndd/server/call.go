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
	takes       []string    // allowed query parameters
	gate        *admit.Gate
	streams     bool // the response is written while it is computed

	// One of these functions handles a request. Only make gets the index.
	make  handler
	serve http.HandlerFunc // writes the answer
}

// A handler returns the reply to a call. If it returns a problem, that is sent instead of the value of the reply.
type handler func(context.Context, *call) (reply, *problem)

// A call is the input of a handler: a request that was checked, admitted and read.
type call struct {
	payload
	parameters []byte   // query parameters as a JSON object; nil without them
	id         string   // ID in the path of the URL
	accept     []string // values of the header Accept
	index      *engine.Index
	memory     *admit.Transfer // pays for the answer
}

// A payload is the body of a request.
type payload struct {
	media       string // one of the media types of the route
	contentType string // media type with the charset of a document
	body        []byte // valid until the answer is written
}

// A reply is what a handler returns.
type reply struct {
	value  any        // sent as JSON
	rows   *rowStream // sent instead of the value; nil for none
	effect effect
}

// An effect describes the changes of a request to documents, for the access log.
type effect struct {
	documents, changed int
	id, outcome        string   // ID and outcome of the last document
	unprocessed        *problem // problem of the documents of a list that were not processed; nil if all were
}

// decoding returns a handler for requests whose fields are those of T, in parameters or in a body in JSON. If T has a
// method setText, the body may also be a document.
func decoding[T any](handle func(context.Context, *call, *T) (reply, *problem)) handler {
	return func(ctx context.Context, c *call) (reply, *problem) {
		in := new(T)
		if c.parameters != nil {
			if err := strict.Read("query", c.parameters, in); err != nil {
				return reply{}, mistake(err, false)
			}
		}
		document, whole := any(in).(interface{ setText(string) })
		if c.media == mediaJSON {
			if named, ok := any(in).(interface{ dropID() }); ok {
				named.dropID()
			}
			if err := strict.Read("body", c.body, in); err != nil {
				return reply{}, mistake(err, whole)
			}
		}
		if c.media == mediaJSON || !whole {
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

// mistake returns the answer to invalid JSON. If the body may be a document, the answer says how to send one.
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
