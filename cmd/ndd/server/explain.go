package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// modelOf returns the problem that an answer is, nil where it is none.
func modelOf(answer any) *huma.ErrorModel {
	switch e := answer.(type) {
	case *huma.ErrorModel:
		return e
	case *problem:
		return &e.ErrorModel
	}
	return nil
}

// explain is a huma transformer that adds to problems of a body what may have been meant: the names of fields where one is unknown,
// the flag of a limit, the place where JSON ends to be JSON, and how a document is sent that is no JSON. The detail then has the
// first of them, since many programs show that alone.
func (s *service) explain(ctx huma.Context, _ string, v any) (any, error) {
	m, o := modelOf(v), ctx.Operation()
	if m == nil || o.RequestBody == nil {
		return v, nil
	}
	for _, d := range m.Errors {
		switch {
		case d.Message == "unexpected property":
			if names := fieldNames(s.schemas, o.RequestBody.Content[mediaJSON].Schema, d.Location); len(names) > 0 {
				d.Message += ": there are " + strings.Join(names, ", ")
			}
		case strings.HasPrefix(d.Message, "expected array length <= "):
			d.Message += " (--max-documents)"
		case m.Status == http.StatusBadRequest && d.Location == "body":
			d.Message += syntaxErrorPlace(visitOf(ctx.Context()).body)
		}
	}
	if len(m.Errors) > 0 && m.Detail == "validation failed" {
		first := m.Errors[0]
		m.Detail = first.Location + ": " + first.Message
		if more := len(m.Errors) - 1; more > 0 {
			m.Detail += fmt.Sprintf(" (and %s)", counted(int64(more), "more error"))
		}
	}
	if m.Status == http.StatusBadRequest && s.takesDocuments(o) {
		m.Detail += "; a document itself is sent with the header Content-Type: text/plain or text/html"
	}
	return v, nil
}

// syntaxErrorPlace says after how many bytes a body is not JSON any more.
func syntaxErrorPlace(body []byte) string {
	syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, new(json.RawMessage)))
	if !ok {
		return ""
	}
	return fmt.Sprintf(", at byte %d", syntax.Offset)
}

// takesDocuments says whether a body may be a document instead of JSON.
func (s *service) takesDocuments(o *huma.Operation) bool {
	return slices.ContainsFunc(s.routes(), func(r route) bool { return r.pattern == o.Method+" "+o.Path && r.document != nil })
}

// fieldNames returns the names of the fields beside the one at a location such as body.documents[3].name, in order.
func fieldNames(all huma.Registry, schema *huma.Schema, location string) []string {
	steps := strings.Split(location, ".")
	for _, step := range steps[1 : len(steps)-1] {
		schema = resolve(all, schema)
		name, _, listed := strings.Cut(step, "[")
		if schema == nil || schema.Properties[name] == nil {
			return nil
		}
		if schema = schema.Properties[name]; listed {
			schema = resolve(all, schema).Items
		}
	}
	if schema = resolve(all, schema); schema == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}

// resolve follows a reference.
func resolve(all huma.Registry, schema *huma.Schema) *huma.Schema {
	if schema != nil && schema.Ref != "" {
		return all.SchemaFromRef(schema.Ref)
	}
	return schema
}
