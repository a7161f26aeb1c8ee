package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/copies"
)

const (
	orchard = "The fence around the orchard is old. A goat of the neighbours has been through the hole in the hedge, and the bark of the young trees is gone. We have to mend the fence before the winter, or the goats will be back."
	boats   = "The boats at the quay have been painted. A crew of the yard is at work on the masts, and the sails of the small boats are with the maker. They will be in the water before the summer, if the weather is kind."
)

// copiesBench is a server with an index of three documents to find copies in.
func copiesBench(t *testing.T) *bench {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copies")
	w, err := copies.CreateIndex(dir, copies.Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := copies.NewSigner(copies.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{orchard, boats, orchard} {
		sets := signer.Sign(text)
		sets.Site = copies.SiteOf(fmt.Sprintf("http://site%d.example/", i))
		if err := w.Add(fmt.Sprintf("page-%d", i), sets); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	x, err := copies.OpenIndex(context.Background(), dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	b.copies = newCopyIndex(x)
	plain := b.Server
	b.Server = httptest.NewServer(b.handler(true))
	t.Cleanup(func() {
		b.Server.Close()
		b.Server = plain
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestCopies: the documents that a text is a copy of, as JSON and as a body that is the document, the most similar first.
func TestCopies(t *testing.T) {
	b := copiesBench(t)
	text, _ := json.Marshal("News. " + orchard)
	a := ask[copiesAnswer](t, b, "/v1/copies", fmt.Sprintf(`{"text": %s}`, text))
	if !a.Compared || a.Documents != 2 || a.Truncated || len(a.Copies) != 2 || a.Copies[0].ID != "page-0" || a.Copies[0].Relation != "duplicate" || a.Copies[0].Method != "spotsigs" {
		t.Errorf("%+v", a)
	}
	a = ask[copiesAnswer](t, b, "/v1/copies", fmt.Sprintf(`{"text": %s, "limit": 1}`, text))
	if a.Documents != 2 || !a.Truncated || len(a.Copies) != 1 {
		t.Errorf("one of them: %+v", a)
	}
	a = ask[copiesAnswer](t, b, "/v1/copies", fmt.Sprintf(`{"text": %s, "site": "https://SITE2.example/x", "same_site": "skip"}`, text))
	if a.Documents != 1 || a.Copies[0].ID != "page-0" {
		t.Errorf("of other sites: %+v", a)
	}
	a = ask[copiesAnswer](t, b, "/v1/copies", fmt.Sprintf(`{"html": %q, "threshold": 0.1}`, "<p>"+boats[:150]+"</p>"))
	if a.Documents != 1 || a.Copies[0].ID != "page-1" || a.Copies[0].AInB < 0.9 || a.Copies[0].BInA > 0.9 {
		t.Errorf("a part: %+v", a)
	}
	a = ask[copiesAnswer](t, b, "/v1/copies", fmt.Sprintf(`{"html": %q}`, "<p>"+boats[:60]+"</p>"))
	if a.Documents != 0 || a.Copies == nil {
		t.Errorf("the threshold of another request stays: %+v", a)
	}
	if a := ask[copiesAnswer](t, b, "/v1/copies", `{"text": "short"}`); a.Compared || a.Documents != 0 {
		t.Errorf("a short text: %+v", a)
	}
	for media, body := range map[string]string{mediaText: orchard, mediaHTML: "<body><p>" + orchard + "</p></body>"} {
		status, answer := b.send(t, "POST /v1/copies", media, body)
		if status != http.StatusOK || !strings.Contains(answer, `"id":"page-2"`) || !strings.Contains(answer, `"equal"`) {
			t.Errorf("%s: %d %s", media, status, answer)
		}
	}
	if held := b.held(); held != "" {
		t.Error(held)
	}
}

// TestCopiesRefused: what cannot be a request is told so, and a server without an index for it has no such endpoint.
func TestCopiesRefused(t *testing.T) {
	b := copiesBench(t)
	for body, want := range map[string]string{
		`{}`:                              "one of text and html is needed",
		`{"text": "a", "html": "b"}`:      "only one of",
		`{"text": "a", "threshold": 0}`:   "body.threshold",
		`{"text": "a", "threshold": 1.5}`: "body.threshold",
		`{"text": "a", "limit": 0}`:       "body.limit",
		`{"text": "a", "same_site": "?"}`: "body.same_site",
		`{"fingerprint": "0"}`:            "unexpected property",
	} {
		if status, answer := b.send(t, "POST /v1/copies", mediaJSON, body); status != http.StatusUnprocessableEntity || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s, want %s", body, status, answer, want)
		}
	}
	without := start(t, newIndex(t, 3, nil, []uint64{0}), "")
	if status, answer := without.send(t, "POST /v1/copies", mediaJSON, `{"text": "a"}`); status != http.StatusNotFound {
		t.Errorf("%d %s", status, answer)
	}
}
