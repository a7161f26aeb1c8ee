package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/cmd/ndd/server/access"
	"example.org/ndd/cmd/ndd/server/strict"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/must"
)

// A description is what /openapi.json says.
type description struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

// operation is an operation of the description.
type operation struct {
	OperationID string
	Role        string `json:"x-role"`
	Parameters  []struct{ Name, In string }
	Body        struct {
		Content map[string]struct {
			Schema  schema
			Example any
			Query   string `json:"x-query"`
		}
	} `json:"requestBody"`
	Responses map[string]any
}

// describedOf returns the description of a server, and its text.
func describedOf(t *testing.T, b *bench) (d description, text string) {
	t.Helper()
	_, text = b.send(t, "GET /openapi.json", "", "")
	must.Do(t, json.Unmarshal([]byte(text), &d))
	return d, text
}

// TestOpenAPINamesEveryRoute checks that the OpenAPI page names every route, and has no link to other hosts.
func TestOpenAPINamesEveryRoute(t *testing.T) {
	for _, b := range []*bench{start(t, nil, ""), backupBench(t, "")} {
		spec, text := describedOf(t, b)
		var named, routed []string
		for path, methods := range spec.Paths {
			for method, o := range methods {
				named = append(named, strings.ToUpper(method)+" "+path)
				if o.OperationID == "" || (method == "post") != (o.Body.Content != nil) {
					t.Errorf("%s %s: %+v", method, path, o)
				}
			}
		}
		for _, r := range b.routes() {
			if r.pattern != "GET /openapi.json" {
				routed = append(routed, strings.ReplaceAll(r.pattern, "...}", "}"))
			}
		}
		slices.Sort(named)
		slices.Sort(routed)
		if !slices.Equal(named, routed) {
			t.Errorf("described %v\nserved %v", named, routed)
		}
		if strings.Contains(text, "http://") || strings.Contains(text, "https://") && !strings.Contains(text, "example") {
			t.Error("the page links elsewhere")
		}
	}
}

// schema is a schema.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 string
	OneOf                []schema
	Properties           map[string]schema
	Items                *schema
	Required             []string
	AdditionalProperties *bool
}

// TestDescriptionFitsTheHandlers compares the description with the routes: roles, parameters, media types, problems,
// and the fields of requests and answers.
func TestDescriptionFitsTheHandlers(t *testing.T) {
	b := startOptions(t, newIndex(t, 3, defaultRecipe(), nil), &Options{Backups: t.TempDir(),
		hooks: hooks{limit: bounds{Queue: waitMax}.set}})
	of := traitsOf(b.options, b.index.Load())
	of.Tokens = true
	var spec description
	must.Do(t, json.Unmarshal(of.json(), &spec))
	schemas := spec.Components.Schemas
	fields := func(s schema) (names []string) {
		if s.Ref != "" {
			s = schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		}
		for _, s := range append(s.OneOf, s) {
			for name := range s.Properties {
				names = append(names, name)
			}
			if s.Properties != nil && s.AdditionalProperties == nil {
				t.Errorf("a schema takes other fields, too: %v", s.Properties)
			}
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	read := func(body any) []string { return strict.Fields(reflect.TypeOf(body)) }
	requests := map[string][]string{"/v1/query": read(queryRequest{}), "/v1/insert": read(insertRequest{}),
		"/v1/check-and-insert": read(checkRequest{}), "/v1/delete": read(deleteRequest{}),
		"/v1/backup": read(backupRequest{})}
	for _, r := range b.routes() {
		method, path, _ := strings.Cut(strings.ReplaceAll(r.pattern, "...}", "}"), " ")
		if path == "/openapi.json" {
			continue
		}
		o := spec.Paths[path][strings.ToLower(method)]
		var takes, media []string
		for _, p := range o.Parameters {
			if p.In == "query" {
				takes = append(takes, p.Name)
			}
		}
		for m := range o.Body.Content {
			media = append(media, m)
		}
		slices.Sort(takes)
		slices.Sort(media)
		if accepts := slices.Sorted(slices.Values(r.accepts)); !slices.Equal(media, accepts) ||
			!slices.Equal(takes, r.takes) || o.Role != r.minimumRole.String() && (r.minimumRole > 0 || o.Role != "") {
			t.Errorf("%s: described with %v, %v, role %s; served with %v, %v, %v", r.pattern, takes, media, o.Role, r.takes,
				accepts, r.minimumRole)
		}
		if got := fields(o.Body.Content[mediaJSON].Schema); !slices.Equal(got, requests[path]) {
			t.Errorf("%s: described with the fields %v, reads %v", r.pattern, got, requests[path])
		}
		for status, has := range map[string]bool{"400": r.accepts != nil, "401": r.minimumRole > 0, "403": true,
			"409": r.minimumRole >= access.Write, "413": r.accepts != nil, "421": true,
			"422": r.make != nil, "429": r.gate != nil || r.accepts != nil, "500": true, "503": r.make != nil || path == "/readyz",
			"507": r.minimumRole >= access.Write} {
			if _, ok := o.Responses[status]; ok != has {
				t.Errorf("%s: %s is described: %v", r.pattern, status, ok)
			}
		}
	}
	if got, want := fields(schemas["Document"]), read(newDocument{}); !slices.Equal(got, want) {
		t.Errorf("a document is described with %v, read with %v", got, want)
	}
	for name, answer := range map[string]any{"Neighbours": Neighbours{}, "Hit": hit{}, "InsertAnswer": insertAnswer{},
		"CheckAnswer": checkAnswer{Neighbours: &Neighbours{}}, "InsertAnswers": answerList[insertAnswer]{},
		"DeleteAnswer": deleteAnswer{}, "StoredDocument": storedDocument{}, "DocumentPage": documentPage{},
		"BackupAnswer": backupAnswer{}, "Statistics": statistics{}, "SegmentSizes": segmentSizes{},
		"Limits":     limits{},
		"ErrorModel": problem{}, "ErrorDetail": fieldError{}} {
		all, always := jsonFields(reflect.TypeOf(answer))
		required := slices.Sorted(slices.Values(schemas[name].Required))
		if name == "CheckAnswer" { // the neighbours are left out of some
			always = required
		}
		if got := fields(schemas[name]); !slices.Equal(got, all) || !slices.Equal(required, always) {
			t.Errorf("%s: described with %v, required %v; answers have %v, always %v", name, got, required, all, always)
		}
	}
}

// jsonFields returns the names of the fields of a struct in JSON, and the names of those that are always present.
func jsonFields(structType reflect.Type) (all, always []string) {
	for _, f := range reflect.VisibleFields(structType) {
		name, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || !f.IsExported() {
			continue
		}
		if all = append(all, name); omit == "" {
			always = append(always, name)
		}
	}
	slices.Sort(all)
	slices.Sort(always)
	return all, always
}

// TestExamplesOfTheDescription checks that the server accepts every example in the description.
func TestExamplesOfTheDescription(t *testing.T) {
	sent, b := 0, backupBench(t, "")
	spec, _ := describedOf(t, b)
	for path, methods := range spec.Paths {
		for method, o := range methods {
			for media, c := range o.Body.Content {
				body, ok := c.Example.(string)
				switch {
				case media == mediaBytes:
					body = little([]uint64{0x8c7f2d1e0a9b4455}) // the result of its printf
				case c.Example == nil:
					t.Fatalf("%s %s: no example", path, media)
				case !ok:
					body = string(encode(c.Example))
				}
				b.wants(t, http.StatusOK, strings.ToUpper(method)+" "+path+c.Query, media, body)
				sent++
			}
		}
	}
	if sent < 12 {
		t.Errorf("only %d examples", sent)
	}
}

// TestLimitsAreTold checks that the description, the answers and /v1/stats have the limits of the server. /v1/stats has
// all figures of the page.
func TestLimitsAreTold(t *testing.T) {
	given := bounds{Connections: 100, Body: 1 << 20, Answer: 1 << 20, RequestMemory: 64 << 20, Timeout: waitMax,
		Queue: waitMax}
	b := startWith(t, newIndex(t, 3, defaultRecipe(), []uint64{0, 1, 1 << 63}), "", given)
	_, spec := describedOf(t, b)
	for _, want := range []string{fmt.Sprintf(`"maxLength": %d,`, 8*fingerprintsMax), "1 to 65,536 fingerprints",
		fmt.Sprintf(`"maxItems": %d,`, strict.Max), `"pattern": "^[0-9a-fA-F]{16}$"`} {
		if !strings.Contains(spec, want) {
			t.Errorf("the description has no %s", want)
		}
	}
	got := post[statistics](t, b, "GET /v1/stats", "", "")
	want := limits{1 << 20, strict.Max, fingerprintsMax, limitMax}
	if got.Limits != want || got.Documents != 3 || got.Merging || len(got.SegmentList) != got.Segments || !got.IDs ||
		got.K != 3 || got.Durable || *got.Recipe != simhash.Default() {
		t.Errorf("%+v, want the limits %+v", got, want)
	}
}

// TestEveryDescription checks that the description is JSON for every server, and its references lead to parts of it.
func TestEveryDescription(t *testing.T) {
	for n := range 1 << 5 {
		has := func(bit int) bool { return n>>bit&1 != 0 }
		text := traits{IDs: has(0), Recipe: has(1), Tokens: has(2), Backups: has(3), Examples: has(4),
			K: 3, Version: "1.2"}.json()
		var spec struct {
			Paths      map[string]any
			Components map[string]map[string]any
		}
		if err := json.Unmarshal(text, &spec); err != nil || len(spec.Paths) < 8 {
			t.Fatalf("traits %05b: %d paths, %v", n, len(spec.Paths), err)
		}
		for _, ref := range regexp.MustCompile(`"#/components/(\w+)/(\w+)"`).FindAllSubmatch(text, -1) {
			if spec.Components[string(ref[1])][string(ref[2])] == nil {
				t.Errorf("traits %05b: %s leads nowhere", n, ref[0])
			}
		}
	}
}
