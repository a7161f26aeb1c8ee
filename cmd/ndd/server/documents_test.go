package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.org/ndd/engine"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/oracle/must"
)

// TestDocumentsAsBodies checks that a document may be the whole body of an insert and of a check-and-insert, as text or
// as a page, with its id as a parameter.
func TestDocumentsAsBodies(t *testing.T) {
	const id = "https://a.example/?x=1&y=ü"
	for media, body := range map[string]string{mediaText: pageA, mediaHTML: "<p>" + pageA} {
		b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
		first := post[checkAnswer](t, b, "/v1/check-and-insert?k=2&limit=1&id="+url.QueryEscape(id), media, body)
		if !first.Inserted || first.ID != id || *first.Number != 0 || first.K != 2 {
			t.Fatalf("%s: %+v", media, first)
		}
		again := post[checkAnswer](t, b, "/v1/check-and-insert?id=https://b.example/", media, body)
		if again.Inserted || again.Fingerprint != first.Fingerprint || len(again.Hits) != 1 || again.Hits[0].IDs[0] != id {
			t.Errorf("%s, again: %+v", media, again)
		}
		added := post[insertAnswer](t, b, "/v1/insert?id=https://b.example/", media, body)
		if !added.Inserted || added.ID != "https://b.example/" || *added.Number != 1 ||
			added.Fingerprint != first.Fingerprint {
			t.Errorf("%s, insert: %+v", media, added)
		}
		if !post[insertAnswer](t, b, "/v1/insert?id=b", media, body).Inserted {
			t.Errorf("%s: not inserted", media)
		}
		if got := post[Neighbours](t, b, "/v1/query?limit=2", media, body); got.Documents != 3 || !got.Truncated {
			t.Errorf("%s, query: %+v", media, got)
		}
	}
}

// TestAnswersAreBounded checks that an answer has at most some megabytes of IDs. It reports that it is truncated.
func TestAnswersAreBounded(t *testing.T) {
	const n, each, limit = 2000, 2000, 1 << 20
	b := startWith(t, named(t, n), "", bounds{Queue: waitMax, Answer: limit})
	got := ask[Neighbours](t, b, "/v1/query", `{"fingerprint": "0000000000000000", "limit": 65536}`)
	bytes := 0
	for _, id := range got.Hits[0].IDs {
		bytes += len(id)
	}
	if !got.Truncated || got.Documents != n || int64(bytes) < limit-each || int64(bytes) > limit+2*each {
		t.Errorf("%d documents, %d bytes of ids, truncated %v", got.Documents, bytes, got.Truncated)
	}
}

// pages returns the ids of all pages of a listing.
func pages(t *testing.T, b *bench, parameters string) (ids []string, count int) {
	t.Helper()
	for next := ""; ; count++ {
		page := post[documentPage](t, b, "GET /v1/documents?"+parameters+next, "", "")
		for _, d := range page.Documents {
			ids = append(ids, d.ID)
		}
		if page.Next == "" {
			return ids, count + 1
		}
		next = "&cursor=" + page.Next
	}
}

// TestListing lists documents of segments and of memory by prefix, page by page, finds them by id
// and deletes them by prefix. Deleted and expired documents are left out.
func TestListing(t *testing.T) {
	t.Parallel() // it waits for a time to live
	x, _ := durable(t, nil, nil)
	b := start(t, x, "")
	want := map[string][]string{}
	for i := range 30 {
		id := fmt.Sprintf("https://%c.example/%d", 'a'+i%3, i)
		ask[insertAnswer](t, b, "/v1/insert", fmt.Sprintf(`{"id": %q, "fingerprint": "%016x"}`, id, i))
		want[id[:16]] = append(want[id[:16]], id)
		want[""] = append(want[""], id)
		if i == 10 || i == 20 {
			must.Do(t, live.Unwrap(x).Flush(t.Context()))
		}
	}
	if n := x.Stats().Segments; n == 0 {
		t.Error("no segment")
	}
	ask[insertAnswer](t, b, "/v1/insert", `{"id": "gone", "ttl": "1s", "fingerprint": "00000000000000ff"}`)
	ask[insertAnswer](t, b, "/v1/insert", `{"id": "deleted", "fingerprint": "00000000000000ff"}`)
	ask[deleteAnswer](t, b, "/v1/delete", `{"id": "deleted"}`)
	must.Eventually(t, "one expires", func() bool {
		all, _ := pages(t, b, "")
		return len(all) == 30
	})
	for prefix, want := range want {
		for _, limit := range []int{1, 7, 1000} {
			got, count := pages(t, b, fmt.Sprintf("limit=%d&", limit)+strings.TrimSuffix("prefix="+url.QueryEscape(prefix),
				"prefix="))
			if fmt.Sprint(got) != fmt.Sprint(want) || count > len(want)/limit+1 {
				t.Errorf("%q, %d at a time: %q in %d pages, want %q", prefix, limit, got, count, want)
			}
		}
	}
	id := want[""][25]
	b.wants(t, http.StatusOK, "GET /v1/documents/"+url.PathEscape(id), "", "", fmt.Sprintf(`{"id":%q,"number":25}`, id))
	for what, status := range map[string]int{
		"GET /v1/documents/deleted": 404, "GET /v1/documents/gone": 404, "GET /v1/documents/": 422,
		"GET /v1/documents/caf%E9": 422, "/v1/documents": 405, "/v1/documents/a": 405,
		"GET /v1/documents?cursor=x": 422, "GET /v1/documents?cursor=10000000000000000000": 422,
		"GET /v1/documents?cursor=9999999999999999999": 200, "GET /v1/documents?prefix=": 422, "GET /v1/documents?prefix=%E9": 422,
		"DELETE /v1/documents": 422, "DELETE /v1/documents?prefix=": 422, "DELETE /v1/documents/a": 405,
	} {
		b.wants(t, status, what, "", "")
	}
	b.wants(t, http.StatusOK, "/v1/insert?id=other", "", `{"id": "https://b/own", "fingerprint": "0f00000000000000"}`,
		`"id":"https://b/own"`) // the ID in the body takes precedence
	b.wants(t, http.StatusOK, "DELETE /v1/documents?prefix="+url.QueryEscape("https://b"), "", "", `{"deleted":11}`)
	if remaining, _ := pages(t, b, ""); len(remaining) != 20 || strings.Contains(fmt.Sprint(remaining), "https://b") {
		t.Errorf("%q are left", remaining)
	}
}

// TestOnConflict checks that on_conflict of a request overrides the flag of the server, for one document and for each
// document of a list.
func TestOnConflict(t *testing.T) {
	for _, started := range []engine.OnConflict{0, engine.Replace, engine.Keep, engine.Refuse} {
		for _, path := range []string{"/v1/insert", "/v1/check-and-insert"} {
			for given, status := range map[string]int{"replace": 200, "keep": 200, "error": 409} {
				x, err := engine.New(3, engine.Options{OnConflict: started})
				must.Do(t, err)
				b := start(t, x, "")
				ask[checkAnswer](t, b, path+"?on_conflict=error", `{"id": "a", "fingerprint": "0000000000000000"}`)
				to := path + "?on_conflict=" + given
				if given == "error" && started == engine.Refuse {
					to = path // without on_conflict the flag of the server applies
				}
				became := fmt.Sprintf(`"inserted":%v,"id":"a"`, given == "replace")
				b.wants(t, http.StatusOK, to, "", `{"documents": [{"id": "a", "fingerprint": "ffffffff00000000"},
					{"id": "b", "fingerprint": "ffff00000000ffff"}]}`, fmt.Sprintf(`{"results":[{"status":%d,`, status), became,
					`{"status":200,"inserted":true,"id":"b"`)
				if given == "error" {
					became = "is document 0"
				}
				b.wants(t, status, to, "", `{"id": "a", "fingerprint": "00000000ffffffff"}`, became)
			}
		}
	}
}

// TestTTL checks that a document expires after its time to live, and a document without one stays. The time is a
// parameter, a field of the body, or a field of a document in a list. The most specific one counts.
func TestTTL(t *testing.T) {
	t.Parallel() // it waits for the time
	b := start(t, newIndex(t, 3, nil, nil), "")
	for _, c := range []struct{ path, body string }{
		{"insert?ttl=1s", `{"id": "zero", "fingerprint": "0000000000000000"}`},
		{"insert?ttl=forever", `{"id": "one", "ttl": "1s", "fingerprint": "0000000000000000"}`},
		{"insert?ttl=90d", `{"id": "kept", "fingerprint": "0000000000000000"}`},
		{"insert?ttl=forever", `{"ttl": "1s", "documents": [{"id": "two", "fingerprint": "0000000000000000"},
			{"id": "three", "ttl": "90d", "fingerprint": "0000000000000000"}]}`},
		{"check-and-insert", `{"documents": [{"id": "four", "ttl": "1s", "fingerprint": "ffffffffffffffff"}], "ttl": "90d"}`},
		{"check-and-insert?ttl=forever", `{"id": "five", "fingerprint": "ffffffff00000000"}`},
	} {
		b.wants(t, http.StatusOK, "/v1/"+c.path, "", c.body, `"inserted":true`)
	}
	ids := func(fingerprint string) (ids []string) {
		for _, h := range ask[Neighbours](t, b, "/v1/query", `{"fingerprint": "`+fingerprint+`"}`).Hits {
			ids = append(ids, h.IDs...)
		}
		return ids
	}
	must.Eventually(t, "those of a second are gone", func() bool {
		got := fmt.Sprint(ids("0000000000000000"), ids("ffffffffffffffff"), ids("ffffffff00000000"))
		return got == "[kept three] [] [five]"
	})
	for _, body := range []string{`{"id": "a", "ttl": "1y", "fingerprint": "0000000000000000"}`,
		`{"documents": [{"id": "a", "ttl": 1, "fingerprint": "0000000000000000"}]}`} {
		b.wants(t, http.StatusUnprocessableEntity, "/v1/insert", "", body, "ttl: ")
	}
}

// TestIndexWithoutDocuments checks that an index that stores only fingerprints answers with hits without ids.
func TestIndexWithoutDocuments(t *testing.T) {
	dir := buildIndex(t, []uint64{5, 7, 1 << 40}, true)
	x, err := engine.Open(context.Background(), dir, engine.OpenOptions{})
	must.Do(t, err)
	b := start(t, x, "")
	b.wants(t, http.StatusOK, "/v1/query", "", `{"fingerprint": "0000000000000005", "k": 1}`, `"hits":[{`+
		`"fingerprint":"0000000000000005","distance":0,"documents":1,"ids":[]},{`+
		`"fingerprint":"0000000000000007","distance":1,"documents":1,"ids":[]}]`)
}
