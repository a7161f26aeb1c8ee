package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A document may be the whole body of an insert and of a check-and-insert, as text or as a page, with its id
// as a parameter or as a header.
func TestDocumentsAsBodies(t *testing.T) {
	page := "<html><script>var noise = 1</script><body><p>" + pageA
	for _, c := range []struct{ media, body string }{{"text/plain", pageA}, {"text/plain; charset=utf-8", pageA}, {"text/html", page}} {
		b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
		first := post[checkAnswer](t, b, "/v1/check-and-insert?k=2&limit=1&id="+url.QueryEscape("https://a.example/?x=1&y=ü"), c.media, c.body, "")
		if !first.Inserted || first.ID != "https://a.example/?x=1&y=ü" || *first.Number != 0 || first.K != 2 {
			t.Fatalf("%s: %+v", c.media, first)
		}
		again := post[checkAnswer](t, b, "/v1/check-and-insert", c.media, c.body, "https://b.example/")
		if again.Inserted || again.Fingerprint != first.Fingerprint || len(again.Hits) != 1 || again.Hits[0].IDs[0] != first.ID {
			t.Errorf("%s, again: %+v", c.media, again)
		}
		added := post[insertAnswer](t, b, "/v1/insert", c.media, c.body, "https://b.example/")
		if !added.Inserted || added.ID != "https://b.example/" || *added.Number != 1 || added.Fingerprint != first.Fingerprint {
			t.Errorf("%s, insert: %+v", c.media, added)
		}
		if !post[insertAnswer](t, b, "/v1/insert?id=b", c.media, c.body, "unused").Inserted {
			t.Errorf("%s: not inserted", c.media)
		}
		if got := post[Neighbours](t, b, "/v1/query?limit=2", c.media, c.body, ""); got.Documents != 3 || !got.Truncated {
			t.Errorf("%s, query: %+v", c.media, got)
		}
	}
}

// An index of raw fingerprints has no recipe for a document, and says so whatever the body.
func TestDocumentsNeedARecipe(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, nil), "")
	for _, path := range []string{"query", "insert?id=a", "check-and-insert?id=a"} {
		if status, body := b.send(t, "POST /v1/"+path, "text/plain", pageA); status != http.StatusUnprocessableEntity || !strings.Contains(body, "no recipe") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// A header that is no id is refused, and a k in the body goes before one beside it.
func TestIDsBesideTheBody(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	for _, id := range []string{"two words", "caf\xc3\xa9", strings.Repeat("x", idMax+1)} {
		r := b.request(t, "POST /v1/insert", "text/plain", pageA)
		r.Header.Set(idHeader, id)
		if status, body := b.do(t, r); status != http.StatusUnprocessableEntity || !strings.Contains(body, idHeader) {
			t.Errorf("%.20q: %d %s", id, status, body)
		}
	}
	if got := post[Neighbours](t, b, "/v1/query?k=0&limit=1", "", `{"fingerprint": "0000000000000001", "k": 1}`, ""); got.K != 1 {
		t.Errorf("%+v", got)
	}
}

// Ids that fill an answer are cut off at some megabytes, and the answer says so.
func TestAnswersAreBounded(t *testing.T) {
	b := startWith(t, newIndex(t, 3, nil, nil), "", Limits{Queue: waitMax, Answer: 1 << 20})
	const n, each, most = 2000, 2000, 1 << 20
	for part := range n / 2000 {
		var list []string
		for i := range 2000 {
			list = append(list, fmt.Sprintf(`{"id": "%d-%d-%s", "fingerprint": "0000000000000000"}`, part, i, strings.Repeat("x", each)))
		}
		ask[insertAnswers](t, b, "/v1/insert", `{"documents": [`+strings.Join(list, ",")+`]}`)
	}
	got := ask[Neighbours](t, b, "/v1/query", `{"fingerprint": "0000000000000000", "limit": 65536}`)
	bytes := 0
	for _, id := range got.Hits[0].IDs {
		bytes += len(id)
	}
	if !got.Truncated || got.Documents != n || int64(bytes) < most-each || int64(bytes) > most+2*each {
		t.Errorf("%d documents, %d bytes of ids, truncated %v", got.Documents, bytes, got.Truncated)
	}
}

func TestCompare(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	got := ask[compareAnswer](t, b, "/v1/compare", `{"a": {"fingerprint": "8000000000000001"}, "b": {"fingerprint": "0000000000000013"}, "k": 2}`)
	if want := "{false 2 3 [63 4 1] 8000000000000001 0000000000000013 <nil>}"; fmt.Sprint(got) != want {
		t.Errorf("%+v, want %s", got, want)
	}
	text, _ := json.Marshal(pageA)
	longer, _ := json.Marshal("<p>" + pageA + " and a few words that only this one has, at its end")
	got = ask[compareAnswer](t, b, "/v1/compare", fmt.Sprintf(`{"a": {"text": %s}, "b": {"html": %s}}`, text, longer))
	if got.K != 3 || got.Distance != len(got.Bits) || got.Near != (got.Distance <= 3) || got.Texts == nil {
		t.Fatalf("%+v", got)
	}
	if c := got.Texts; c.AInB != 1 || c.BInA >= 1 || c.Jaccard <= 0 || len(c.OnlyA) != 0 || len(c.OnlyB) != 1 || !strings.Contains(c.OnlyB[0].Text, "that only this one has") {
		t.Errorf("%+v", c)
	}
	same := ask[compareAnswer](t, b, "/v1/compare", fmt.Sprintf(`{"a": {"text": %s}, "b": {"text": %[1]s}, "k": 0}`, text))
	if !same.Near || same.Distance != 0 || same.Texts.Jaccard != 1 || same.A != same.B {
		t.Errorf("%+v", same)
	}
	if n := b.index.Load().Stats().Documents; n != 0 {
		t.Errorf("%d documents were stored", n)
	}
}

// post sends a body with an id as header, unless that is empty, and decodes the answer, which must be 200.
func post[T any](t testing.TB, b *bench, path, media, body, id string) (answer T) {
	t.Helper()
	r := b.request(t, "POST "+path, media, body)
	if id != "" {
		r.Header.Set(idHeader, id)
	}
	status, data := b.do(t, r)
	if status != http.StatusOK {
		t.Fatalf("%s, %s: %d %s", path, media, status, data)
	}
	if err := json.Unmarshal([]byte(data), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// A server that is told to takes shorter lists, and longer ones, than it takes untold.
func TestDocumentsOfAList(t *testing.T) {
	for _, most := range []int{2, 5000} {
		b := startWith(t, newIndex(t, 3, nil, nil), "", Limits{Queue: waitMax, Documents: most})
		list := func(n int) string {
			return `{"documents": [` + strings.TrimSuffix(strings.Repeat(`{"id": "a", "fingerprint": "0000000000000000"},`, n), ",") + `]}`
		}
		if got := ask[insertAnswers](t, b, "/v1/insert", list(most)); len(got.Results) != most {
			t.Errorf("%d results", len(got.Results))
		}
		for path, body := range map[string]string{"insert": list(most + 1), "check-and-insert": list(most + 1), "delete": `{"ids": ["a"` + strings.Repeat(`, "b"`, most) + `]}`} {
			if status, answer := b.send(t, "POST /v1/"+path, "", body); status != http.StatusUnprocessableEntity || !strings.Contains(answer, fmt.Sprint("<= ", most)) {
				t.Errorf("%s of %d: %d %s", path, most+1, status, answer)
			}
		}
		if _, spec := b.send(t, "GET /openapi.json", "", ""); !strings.Contains(spec, fmt.Sprintf(`"maxItems":%d,`, most)) {
			t.Errorf("the description does not say %d", most)
		}
	}
}
