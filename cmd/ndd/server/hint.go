package server

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// hint is a huma transformer that adds to problems what may have been meant: the names of fields where one is unknown, and how a
// document is sent that is no JSON.
func (s *service) hint(ctx huma.Context, _ string, v any) (any, error) {
	e, ok := v.(*huma.ErrorModel)
	o := ctx.Operation()
	if !ok || o.RequestBody == nil {
		return v, nil
	}
	for _, d := range e.Errors {
		if d.Message == "unexpected property" {
			if names := fieldNames(s.schemas, o.RequestBody.Content[mediaJSON].Schema, d.Location); len(names) > 0 {
				d.Message += ": there are " + strings.Join(names, ", ")
			}
		}
	}
	if e.Status == http.StatusBadRequest && s.takesDocuments(o) {
		e.Detail += "; a document itself is sent with the header Content-Type: text/plain or text/html"
	}
	return v, nil
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
