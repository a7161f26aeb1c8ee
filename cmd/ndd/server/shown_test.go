package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
)

// shownBench is a server that shows a file, and a text that is near it: of its words, one is another.
func shownBench(t *testing.T) (b *bench, id, near string) {
	t.Helper()
	f, err := simhash.New(simhash.Default())
	if err != nil {
		t.Fatal(err)
	}
	words := make([]string, 400)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", i)
	}
	text := strings.Join(words, " ")
	near = strings.Replace(text, "word200 ", "zeppelin ", 1)
	print, _, _ := f.Fingerprint(text)
	other, _, _ := f.Fingerprint(near)
	if simhash.Distance(print, other) > 3 {
		t.Fatalf("%d bits apart", simhash.Distance(print, other))
	}
	id = filepath.Join(t.TempDir(), "kept.txt")
	if err := os.WriteFile(id, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	x := newIndex(t, 3, defaultRecipe(), nil)
	if _, err := x.Insert(t.Context(), engine.Doc{ID: id, Fingerprint: print}); err != nil {
		t.Fatal(err)
	}
	b = startOptions(t, x, &Options{Limits: Limits{Queue: waitMax, Body: 64 << 10}, ShowFiles: true})
	b.loading.Loaded(id, print)
	return b, id, near
}

// Of the files of a server, those are shown that it has loaded as documents which are still stored, and no others, whatever is asked for.
func TestShowFiles(t *testing.T) {
	b, id, near := shownBench(t)
	got := ask[compareAnswer](t, b, "/v1/compare", fmt.Sprintf(`{"a": {"text": %q}, "b_id": %q}`, near, id))
	if len(got.Texts.OnlyA) != 1 || len(got.Texts.OnlyB) != 1 || !strings.Contains(got.Texts.OnlyA[0].Text, "zeppelin") || !strings.Contains(got.Texts.OnlyB[0].Text, "word200") {
		t.Errorf("%+v", got.Texts)
	}
	dir := filepath.Dir(id)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other, lines, large, gone := write("other.txt", pageA), write("lines.jsonl", `{"text": "`+pageA+`"}`), write("large.txt", strings.Repeat("word ", 20_000)), write("gone.txt", pageA)
	ask[insertAnswer](t, b, "/v1/insert", fmt.Sprintf(`{"id": %q, "text": %q}`, other, pageA)) // by somebody who would like to read it
	for i, path := range []string{lines, large, gone} {
		ask[insertAnswer](t, b, "/v1/insert", fmt.Sprintf(`{"id": %q, "text": %q}`, path, pageA))
		b.loading.Loaded(path, simhash.Fingerprint(i))
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	deleted := write("deleted.txt", pageA)
	b.loading.Loaded(deleted, 7)
	for what, want := range map[string]int{
		`"b_id": "` + other + `"`: 404, `"b_id": "/etc/passwd"`: 404, `"b_id": "` + dir + `/../` + filepath.Base(dir) + `/kept.txt"`: 404, `"b_id": "` + dir + `"`: 404,
		`"b_id": "file://` + id + `"`: 404, `"b_id": "` + lines + `"`: 404, `"b_id": "` + gone + `"`: 404, `"b_id": "` + deleted + `"`: 404,
		`"b_id": "` + large + `"`: 413, `"b_id": ""`: 422, `"b_id": 7`: 422, `"b_id": "` + id + `", "b": {"text": "x"}`: 422,
	} {
		status, answer := b.send(t, "POST /v1/compare", "", fmt.Sprintf(`{"a": {"text": %q}, %s}`, pageB, what))
		if status != want || strings.Contains(answer, "quick brown") {
			t.Errorf("%s: %d %s, want %d", what, status, answer, want)
		}
	}
	if _, spec := b.send(t, "GET /openapi.json", "", ""); !strings.Contains(spec, `"b_id"`) {
		t.Error("b_id is not described")
	}
	eventually(t, "all is given back", func() bool { return b.held() == "" })
}

// A server that was not told to shows no file.
func TestFilesAreNotShown(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte(pageA), 0o644); err != nil {
		t.Fatal(err)
	}
	ask[insertAnswer](t, b, "/v1/insert", fmt.Sprintf(`{"id": %q, "text": %q}`, path, pageA))
	b.loading.Loaded(path, 7)
	if status, answer := b.send(t, "POST /v1/compare", "", fmt.Sprintf(`{"a": {"text": %q}, "b_id": %q}`, pageA, path)); status != http.StatusNotFound {
		t.Errorf("%d %s", status, answer)
	}
	if _, spec := b.send(t, "GET /openapi.json", "", ""); strings.Contains(spec, "b_id") {
		t.Error("b_id is described")
	}
}
