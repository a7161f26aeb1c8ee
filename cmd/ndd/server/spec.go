package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/server/access"
)

// The description of the interface is huma's, of the Go types, to which is added what those cannot say:
// which fields exclude each other, which media types a body may have, which statuses there are, and
// what the index at hand needs: ids or none, fingerprints only, the largest k.

// openAPI serves the description of everything that has been registered.
func (s *service) openAPI(api huma.API) http.HandlerFunc {
	base, err := json.Marshal(api.OpenAPI())
	if err != nil {
		panic(fmt.Sprintf("server: the API has no JSON: %v", err))
	}
	unknown := sync.OnceValue(func() []byte {
		return s.describeAPI(base, traits{ids: true, recipe: true, k: 64, tokens: s.keys != nil, shown: s.loading.shows(), limits: s.limits})
	})
	known := sync.OnceValue(func() []byte { return s.describeAPI(base, s.traits()) })
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		if s.index.Load() == nil {
			w.Write(unknown())
			return
		}
		w.Write(known())
	}
}

// traits are what requests depend on of an index.
type traits struct {
	ids    bool // documents have ids
	recipe bool // documents can be fingerprinted
	k      int  // largest distance
	prints int  // fingerprints of a document; 0 for one or two
	tokens bool // are needed
	shown  bool // files are
	limits Limits
}

// traits returns those of the index, which is there.
func (s *service) traits() traits {
	x := s.index.Load()
	return traits{x.Live().Config().IDs, x.Recipe() != nil, x.Design().K, x.PrintsEach(), s.keys != nil, s.loading.shows(), s.limits}
}

// An object is one of JSON.
type object = map[string]any

// describeAPI returns the description for an index.
func (s *service) describeAPI(base []byte, t traits) []byte {
	var spec object
	if err := json.Unmarshal(base, &spec); err != nil {
		panic(fmt.Sprintf("server: the API's own JSON: %v", err))
	}
	describeSchemas(spec["components"].(object)["schemas"].(object), t)
	paths := spec["paths"].(object)
	for path, o := range plainOperations(min(t.limits.Fingerprints, int(t.limits.Body/8))) {
		paths[path] = o
	}
	for _, r := range s.routes() {
		method, path, _ := strings.Cut(r.pattern, " ")
		if methods, ok := paths[path].(object); ok {
			describeRoute(methods[strings.ToLower(method)].(object), &r, t)
		}
	}
	data, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("server: the API has no JSON: %v", err))
	}
	return data
}

// describeSchemas says which fields of requests exclude each other.
func describeSchemas(schemas object, t traits) {
	subjects := [][]string{{"fingerprint"}}
	if t.recipe {
		subjects = append(subjects, []string{"text"}, []string{"html"})
	}
	documents := make([][]string, len(subjects))
	for i, one := range subjects {
		documents[i] = slices.Clone(one)
		if t.ids {
			documents[i] = append([]string{"id"}, one...)
		}
	}
	lists := append(slices.Clone(documents), []string{"documents"})
	deletes := [][]string{{"fingerprint"}}
	if t.ids {
		deletes = append(deletes, []string{"id"}, []string{"ids"})
	}
	for name, choices := range map[string][][]string{
		"QueryRequest": subjects, "Subject": subjects,
		"InsertRequest": lists, "CheckRequest": lists, "DeleteRequest": deletes,
	} {
		schemas[name] = variants(schemas[name].(object), choices)
	}
	describeCompare(schemas["CompareRequest"].(object), t.shown)
	if copies, ok := schemas["CopiesRequest"].(object); ok {
		schemas["CopiesRequest"] = variants(copies, [][]string{{"text"}, {"html"}})
	}
	for name := range schemas {
		limitPrints(schemas[name].(object), t.prints)
	}
	schemas["Document"].(object)["description"] = "A document of a list. One that has not all that it needs, or more, or is too short, is told of in its result and keeps no other out."
	for _, name := range []string{"QueryRequest", "CheckRequest", "CompareRequest"} {
		limitK(schemas[name].(object), t.k)
	}
	schemas["CheckAnswer"].(object)["required"] = []string{"inserted"}
	schemas["ErrorModel"].(object)["description"] = "What went wrong, as RFC 9457 has it"
}

// describeCompare says that one of b and b_id is given; b_id only where files are shown.
func describeCompare(schema object, shown bool) {
	fields := schema["properties"].(object)
	if !shown {
		delete(fields, "b_id")
		schema["required"] = []string{"a", "b"}
		return
	}
	delete(schema, "additionalProperties") // which looks at properties beside it only
	schema["oneOf"] = []any{object{"required": []string{"a", "b"}}, object{"required": []string{"a", "b_id"}}}
	delete(schema, "required")
}

// variants returns a schema of which exactly one of some sets of fields is given, with any of the fields that are
// in none of the sets.
func variants(schema object, choices [][]string) object {
	all := map[string]bool{"id": true, "ids": true, "fingerprint": true, "text": true, "html": true, "documents": true}
	var list []any
	for _, choice := range choices {
		fields := object{}
		for name, field := range schema["properties"].(object) {
			if !all[name] || slices.Contains(choice, name) {
				fields[name] = field
			}
		}
		list = append(list, object{"type": "object", "additionalProperties": false, "properties": fields, "required": choice})
	}
	if len(list) == 1 {
		return list[0].(object)
	}
	return object{"oneOf": list}
}

// printPatterns are of the fingerprints of documents that have one or two.
var printPatterns = [...]string{1: "^[0-9a-fA-F]{16}$", 2: "^[0-9a-fA-F]{16},[0-9a-fA-F]{16}$"}

// limitPrints says how many fingerprints go into a field of them, wherever a schema has one.
func limitPrints(schema object, prints int) {
	list, _ := schema["oneOf"].([]any)
	for _, one := range list {
		if one, ok := one.(object); ok {
			limitPrints(one, prints)
		}
	}
	fields, _ := schema["properties"].(object)
	if field, ok := fields["fingerprint"].(object); ok && field["pattern"] != nil && prints > 0 {
		field = clone(field)
		field["pattern"], field["minLength"], field["maxLength"] = printPatterns[prints], 17*prints-1, 17*prints-1
		fields["fingerprint"] = field
	}
}

// limitK sets the least and the largest k wherever a request's schema has one.
func limitK(schema object, k int) {
	if list, ok := schema["oneOf"].([]any); ok {
		for _, one := range list {
			limitK(one.(object), k)
		}
	}
	if fields, ok := schema["properties"].(object); ok {
		if field, ok := fields["k"].(object); ok {
			field = clone(field)
			field["minimum"], field["maximum"] = 0, k
			fields["k"] = field
		}
	}
}

func clone(o object) object {
	out := object{}
	for name, v := range o {
		out[name] = v
	}
	return out
}

// describeRoute adds a route's parameters, media types and statuses. The extension x-role is the least role of a token.
func describeRoute(o object, r *route, t traits) {
	var list []any
	for _, name := range r.takes {
		if p := parameterOf(name, t); p != nil {
			list = append(list, p)
		}
	}
	if r.document != nil && slices.Contains(r.takes, "id") && t.ids {
		list = append(list, object{"name": idHeader, "in": "header", "description": "Id of the document, for a body that is the document itself, where ?id= is not given",
			"schema": object{"type": "string", "minLength": 1, "maxLength": idMax, "pattern": "^[!-~]+$"}})
	}
	if list != nil {
		o["parameters"] = list
	}
	if r.document != nil && (t.recipe || r.pattern == "POST /v1/copies") {
		content := o["requestBody"].(object)["content"].(object)
		content[mediaText] = object{"schema": object{"type": "string", "format": "document-text", "description": "The document itself"}}
		content[mediaHTML] = object{"schema": object{"type": "string", "format": "document-html", "description": "The page itself"}}
	}
	if t.ids && t.recipe {
		describeExamples(o)
	}
	if _, ok := o["requestBody"]; ok {
		o["requestBody"].(object)["required"] = true
	}
	delete(o, "security")
	if t.tokens && r.least > access.Anyone {
		o["security"], o["x-role"] = []any{object{"token": []any{}}}, r.least.String()
	}
	describeStatuses(o["responses"].(object), r)
}

// parameterOf describes a query parameter, nil where the index has none.
func parameterOf(name string, t traits) object {
	if (name == "id" || name == "on_conflict") && !t.ids {
		return nil
	}
	schema, text := object{}, ""
	switch name {
	case "k":
		schema, text = object{"type": "integer", "minimum": 0, "maximum": t.k}, "Largest Hamming distance; the default is the index's own k. A field k of a JSON body goes before it."
	case "limit":
		schema, text = object{"type": "integer", "minimum": 1, "maximum": limitMost}, "Largest number of ids in the answer. A field limit of a JSON body goes before it."
	case "id":
		schema, text = object{"type": "string", "minLength": 1, "maxLength": idMax, "pattern": idPattern}, "Id of the document, for a body that is the document itself."
	case "on_conflict":
		schema, text = object{"type": "string", "enum": []string{"replace", "keep", "error"}}, "What becomes of a document whose id is taken: it takes the place of the other, is not added, or is answered with 409. The default is the server's."
	case "ttl":
		schema, text = object{"type": "string", "pattern": ttlPattern, "maxLength": 7, "example": "90d"}, "How long the document is kept, such as 90d, 36h, 10m, 30s, or forever. The default is the server's."
	case "unique":
		schema, text = object{"type": "boolean"}, "One line for each distinct fingerprint, with the id of its first document."
	}
	return object{"name": name, "in": "query", "description": text, "schema": schema}
}

// idPattern is of ids: no control characters.
const idPattern = `^[^\x00-\x1f\x7f-\x9f]*$`

// plainOperations describes what is not registered with huma, where a batch may have so many fingerprints.
func plainOperations(fingerprints int) map[string]any {
	most := humanize.Comma(int64(fingerprints))
	return map[string]any{
		"/v1/batch": object{"post": object{
			"operationId": "batch", "summary": "Find near-duplicates of many fingerprints", "description": fmt.Sprintf(batchDescription, most),
			"requestBody": object{"content": object{mediaBytes: object{"schema": object{"type": "string", "format": "binary", "minLength": 8, "maxLength": 8 * fingerprints, "description": "Fingerprints, 8 bytes each"}}}},
			"responses": object{"200": object{"description": "A row for each document, in order of query row, distance, fingerprint, and arrival", "content": object{
				mediaTSV: object{"schema": object{"type": "string"}}, mediaLines: object{"schema": object{"type": "string"}}, mediaBytes: object{"schema": object{"type": "string", "format": "binary"}},
			}}},
		}},
		"/livez":  health("live", "Whether the process runs", "It does"),
		"/readyz": health("ready", "Whether queries are answered", "They are"),
	}
}

func health(id, what, yes string) object {
	schema := object{"type": "object", "required": []string{"status"}, "properties": object{"status": object{"type": "string"}}}
	return object{"get": object{"operationId": id, "summary": what,
		"responses": object{"200": object{"description": yes, "content": object{mediaJSON: object{"schema": schema}}}}}}
}

// batchDescription has the largest number of fingerprints to be put in.
const batchDescription = `Body: 1 to %s fingerprints of 8 bytes, little-endian: byte 0 has bits 0 to 7. ` +
	`The first one is query row 0. Answer, by the header Accept: text/tab-separated-values (the default): query row, fingerprint, distance and id, ` +
	`with \t, \n, \r and \\ in an id written with a backslash; application/x-ndjson: an object a line with query, fingerprint, distance and id; ` +
	`application/octet-stream: 32 bytes a row, four little-endian 64-bit integers: bytes 0 to 7 the query row, 8 to 15 the fingerprint, 16 to 23 the distance, ` +
	`24 to 31 the number of the document. An answer that breaks off is cut in the middle of its chunked encoding, so that clients see an error.`
