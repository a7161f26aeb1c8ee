package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"ndd/engine/copies"
	"ndd/engine/oracle/must"
)

const (
	orchard = "The fence around the orchard is old. A goat of the neighbours has been through the hole in the hedge, " +
		"and the bark of the young trees is gone. We have to mend the fence before the winter, or the goats will be back."
	boats = "The boats at the quay have been painted. A crew of the yard is at work on the masts, and the sails of the " +
		"small boats are with the maker. They will be in the water before the summer, if the weather is kind."
)

// copiesBench is a server with an index, in a folder, of three documents to find copies in.
func copiesBench(t *testing.T) (b *bench, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "copies")
	w, err := copies.CreateIndex(dir, copies.Options{}, false)
	must.Do(t, err)
	signer, err := copies.NewSigner(copies.Options{})
	must.Do(t, err)
	for i, text := range []string{orchard, boats, orchard} {
		sets := signer.Sign(text)
		sets.Site = copies.SiteOf(fmt.Sprintf("http://site%d.example/", i))
		must.Do(t, w.Add(fmt.Sprintf("page-%d", i), sets))
	}
	_, err = w.Commit(context.Background())
	must.Do(t, err)
	b = start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	b.copies = &copySource{open: func(ctx context.Context) (*copies.Index, error) {
		return copies.OpenIndex(ctx, dir, 1)
	}}
	_, err = b.copies.reload(context.Background())
	must.Do(t, err)
	b.Config.Handler = b.handler(true)
	t.Cleanup(func() { must.Do(t, b.copies.close()) })
	return b, dir
}

// TestCopiesReload: documents that are added to the index and deleted from it are seen once it is
// opened again, a request that has begun goes on with the old one, and what cannot be opened
// changes nothing.
func TestCopiesReload(t *testing.T) {
	b, dir := copiesBench(t)
	ids := func() (all []string) {
		text, _ := json.Marshal(orchard)
		for _, c := range ask[copiesAnswer](t, b, "/v1/copies", fmt.Sprintf(`{"text": %s}`, text)).Copies {
			all = append(all, c.ID)
		}
		return all
	}
	reload := func(want uint64) {
		t.Helper()
		if n, err := b.copies.reload(context.Background()); n != want || err != nil {
			t.Errorf("opened again: %d documents, %v", n, err)
		}
	}
	w, err := copies.AppendIndex(context.Background(), dir, copies.Options{})
	must.Do(t, err)
	signer, _ := copies.NewSigner(copies.Options{})
	must.Do(t, w.Add("page-9", signer.Sign(orchard)))
	_, err = w.Commit(context.Background())
	must.Do(t, err)
	w.Abort()
	if got := ids(); fmt.Sprint(got) != "[page-0 page-2]" {
		t.Errorf("before: %v", got)
	}
	old := b.copies.acquire()
	b.reload(context.Background())
	must.Eventually(t, "it is opened again", func() bool { return fmt.Sprint(ids()) == "[page-0 page-2 page-9]" })
	if err := old.index.Check(context.Background()); err != nil || old.index.Documents() != 3 {
		t.Errorf("a request that had begun: %v", err)
	}
	old.users.Done()
	if b.background.Wait(); old.index.NeedBytes() != 0 {
		t.Error("its index is not closed")
	}
	_, _, err = copies.Delete(context.Background(), dir, []string{"page-0"}, copies.Options{})
	must.Do(t, err)
	reload(3)
	_, _, err = copies.Merge(context.Background(), dir, copies.Options{})
	must.Do(t, err)
	reload(3)
	if got := ids(); fmt.Sprint(got) != "[page-2 page-9]" {
		t.Errorf("merged: %v", got)
	}
	must.Do(t, os.Remove(filepath.Join(dir, "copies")))
	if _, err := b.copies.reload(context.Background()); err == nil {
		t.Error("opened again without a manifest")
	}
	if got := ids(); len(got) != 2 {
		t.Errorf("and then: %v", got)
	}
}

// TestCopies: the documents that a text is a copy of, as JSON and as a body that is the document,
// the most similar first; what cannot be a request is told so.
func TestCopies(t *testing.T) {
	b, _ := copiesBench(t)
	for _, c := range []struct{ body, want, found string }{
		{fmt.Sprintf(`{"text": "News. %s"}`, orchard), `{"compared":true,"documents":2,"truncated":false,"copies":[{`,
			`"id":"page-0","relation":"duplicate","method":"spotsigs"`},
		{fmt.Sprintf(`{"text": %q, "limit": 1}`, orchard), `"documents":2,"truncated":true,"copies":[{"id":"page-0"`, ""},
		{fmt.Sprintf(`{"text": %q, "site": "https://SITE2.example/x", "same_site": "skip"}`, orchard),
			`"documents":1,"truncated":false,"copies":[{"id":"page-0"`, ""},
		{fmt.Sprintf(`{"html": %q, "threshold": 0.1}`, "<p>"+boats[:150]), `"documents":1,"truncated":false,` +
			`"copies":[{"id":"page-1"`, `"a_in_b":1,"b_in_a":0.5`},
		{fmt.Sprintf(`{"html": %q}`, "<p>"+boats[:60]), `"documents":0,`, `"copies":[]`}, // that threshold is gone
		{`{"text": "short"}`, `{"compared":false,"documents":0,`, ""},
	} {
		b.wants(t, http.StatusOK, "/v1/copies", mediaJSON, c.body, c.want, c.found)
	}
	for media, body := range map[string]string{mediaText: orchard, mediaHTML: "<body><p>" + orchard + "</p></body>"} {
		b.wants(t, http.StatusOK, "/v1/copies", media, body, `"id":"page-2"`, `"equal"`)
	}
	if held := b.held(); held != "" {
		t.Error(held)
	}
	for body, want := range map[string]string{
		`{}`:                              "one of text and html is needed",
		`{"text": "a", "html": "b"}`:      "only one of",
		`{"text": "a", "threshold": 0}`:   "body.threshold",
		`{"text": "a", "threshold": 1.5}`: "body.threshold",
		`{"text": "a", "limit": 0}`:       "body.limit",
		`{"text": "a", "same_site": "?"}`: "body.same_site",
		`{"fingerprint": "0"}`:            "unexpected property",
	} {
		b.wants(t, http.StatusUnprocessableEntity, "/v1/copies", mediaJSON, body, want)
	}
}
