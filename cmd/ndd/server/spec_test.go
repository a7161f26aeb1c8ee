package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The OpenAPI page names every route, and nothing in it leads elsewhere.
func TestOpenAPINamesEveryRoute(t *testing.T) {
	for _, b := range []*bench{start(t, nil, ""), copiesBench(t), backupBench(t, "")} {
		describesItsRoutes(t, b)
	}
}

func describesItsRoutes(t *testing.T, b *bench) {
	t.Helper()
	status, body := b.send(t, "GET /openapi.json", "", "")
	var spec struct {
		Paths map[string]map[string]struct {
			OperationID string         `json:"operationId"`
			RequestBody map[string]any `json:"requestBody"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(body), &spec); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	var named, routed []string
	for path, methods := range spec.Paths {
		for method, o := range methods {
			named = append(named, strings.ToUpper(method)+" "+path)
			if o.OperationID == "" || (method == "post") != (o.RequestBody != nil) {
				t.Errorf("%s %s: %+v", method, path, o)
			}
		}
	}
	for _, r := range b.routes() {
		if r.pattern != "GET /openapi.json" {
			routed = append(routed, r.pattern)
		}
	}
	slices.SortFunc(named, cmp.Compare)
	slices.SortFunc(routed, cmp.Compare)
	if !slices.Equal(named, routed) {
		t.Errorf("described %v\nserved %v", named, routed)
	}
	if strings.Contains(body, "http://") || strings.Contains(body, "https://") && !strings.Contains(body, "example") {
		t.Error("the page links elsewhere")
	}
	for _, media := range []string{"text/html", "text/plain", "application/octet-stream", mediaTSV} {
		if !strings.Contains(body, media) {
			t.Errorf("%s is not described", media)
		}
	}
}

// Every example in the description is taken as it stands.
func TestExamplesOfTheDescription(t *testing.T) {
	sent := examplesAreTaken(t, copiesBench(t)) + examplesAreTaken(t, backupBench(t, ""))
	if sent < 28 {
		t.Errorf("only %d examples", sent)
	}
}

// examplesAreTaken sends the examples of a server's description, and returns how many there are.
func examplesAreTaken(t *testing.T, b *bench) (sent int) {
	t.Helper()
	_, body := b.send(t, "GET /openapi.json", "", "")
	var spec struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			RequestBody struct {
				Content map[string]struct {
					Example any    `json:"example"`
					Query   string `json:"x-query"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(body), &spec); err != nil {
		t.Fatal(err)
	}
	for path, methods := range spec.Paths {
		for method, o := range methods {
			for media, c := range o.RequestBody.Content {
				body, ok := c.Example.(string)
				switch {
				case media == mediaBytes:
					body = little([]uint64{0x8c7f2d1e0a9b4455}) // what its printf makes
				case !ok:
					data, err := json.Marshal(c.Example)
					if err != nil || c.Example == nil {
						t.Fatalf("%s %s: no example: %v", path, media, err)
					}
					body = string(data)
				}
				if status, answer := b.send(t, strings.ToUpper(method)+" "+path+c.Query, media, body); status != http.StatusOK {
					t.Errorf("%s%s, %s, %s: %d %s", path, c.Query, media, body, status, answer)
				}
				sent++
			}
		}
	}
	return sent
}

// The description, the answers and /v1/stats have the limits that the server was started with, all of them.
func TestLimitsAreTold(t *testing.T) {
	given := Limits{Connections: 100, Body: 1 << 20, Documents: 7, Fingerprints: 50, Answer: 1 << 20, RequestMemory: 64 << 20, Timeout: waitMax, Queue: waitMax}
	b := startWith(t, newIndex(t, 3, nil, []uint64{0}), "", given)
	_, spec := b.send(t, "GET /openapi.json", "", "")
	for _, want := range []string{`"maxLength":400,`, "Body: 1 to 50 fingerprints", `"maxItems":7,`, `"pattern":"^[0-9a-fA-F]{16}$"`} {
		if !strings.Contains(spec, want) {
			t.Errorf("the description has no %s", want)
		}
	}
	if strings.Contains(spec, "65,536") || strings.Contains(spec, "{16}(,") {
		t.Error("the description has what holds for others")
	}
	for n, want := range map[int]int{50: http.StatusOK, 51: http.StatusRequestEntityTooLarge} {
		if status, answer := b.send(t, "POST /v1/batch", "", strings.Repeat("12345678", n)); status != want || status != http.StatusOK && !strings.Contains(answer, "--max-fingerprints") {
			t.Errorf("%d fingerprints: %d %s", n, status, answer)
		}
	}
	_, body := b.send(t, "GET /v1/stats", "", "")
	var got statistics
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	want := limits{1 << 20, 7, 50, limitMost, 100, 1 << 20, 64 << 20, waitMax.Seconds(), waitMax.Seconds()}
	if got.Limits != want {
		t.Errorf("%+v, want %+v", got.Limits, want)
	}
	for i := range reflect.TypeFor[Limits]().NumField() - 1 { // times have no flags
		if f := reflect.TypeFor[Limits]().Field(i); reflect.ValueOf(given).Field(i).IsZero() {
			t.Errorf("%s is not held", f.Name)
		}
	}
}
