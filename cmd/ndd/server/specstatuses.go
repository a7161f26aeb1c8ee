package server

import (
	"net/http"
	"strconv"

	"ndd/cmd/ndd/server/access"
)

// statuses are the reasons of problems, and whom they concern.
var statuses = []struct {
	status int
	text   string
	of     func(r *route) bool
}{
	{400, "Not JSON, not HTTP, empty, or cut off", hasBody},
	{401, "No token, or an unknown one", func(r *route) bool { return r.least > access.Anyone }},
	{403, "The token's role is too low, or the request comes from another web site's page", always},
	{404, "No document that may be shown has the id", func(r *route) bool { return r.pattern == "POST /v1/compare" }},
	{408, "The body did not come in time", hasBody},
	{409, "The id is taken, and that is to be an error (on_conflict)", func(r *route) bool { return r.least == access.Write }},
	{413, "The body is too large, or has too many fingerprints or documents", hasBody},
	{415, "The body is of a type that is not taken", hasBody},
	{421, "The Host is not this machine", always},
	{422, "Understood, but makes no sense: the errors say which field, and why", func(r *route) bool { return r.needs }},
	{429, "More than the server can do: try again after Retry-After seconds", func(r *route) bool { return r.gate != nil || r.accepts != nil }},
	{500, "A bug: it is logged, and harms this request only", always},
	{503, "Loading, draining, damaged, or too many connections", func(r *route) bool { return !r.always || r.pattern == "GET /readyz" }},
	{507, "There is no room: queries are answered, and changes when there is room again", func(r *route) bool { return r.least == access.Write }},
}

func always(*route) bool    { return true }
func hasBody(r *route) bool { return r.accepts != nil }

// describeStatuses adds all statuses that a route may answer with.
func describeStatuses(responses object, r *route) {
	for status := range responses {
		if status != "200" {
			delete(responses, status)
		}
	}
	for _, s := range statuses {
		if !s.of(r) {
			continue
		}
		response := object{"description": s.text, "content": object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/ErrorModel"}}}}
		if s.status == http.StatusUnauthorized {
			response["headers"] = object{"WWW-Authenticate": object{"schema": object{"type": "string"}}}
		}
		if s.status == http.StatusTooManyRequests {
			response["headers"] = object{"Retry-After": object{"description": "Seconds", "schema": object{"type": "integer", "minimum": 1}}}
		}
		responses[strconv.Itoa(s.status)] = response
	}
}
