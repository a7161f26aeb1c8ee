package server

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

// TestInsertAnswersForEach checks that the answer to a list has a result for each document. An invalid document has a
// reason, and does not affect the others.
func TestInsertAnswersForEach(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	body := fmt.Sprintf(`{"documents": [{"id": "a", "text": %q}, {"id": "b", "text": "too short"},
		{"fingerprint": "0000000000000000"},
		{"id": "d", "fingerprint": "00000000000000ff"}, {"id": "e", "text": "x", "html": "y"}]}`, pageA)
	for _, path := range []string{"/v1/insert", "/v1/check-and-insert"} {
		good := `{"status":200,"inserted":true,`
		if path == "/v1/check-and-insert" {
			good += `"before":true,`
		}
		b.wants(t, http.StatusOK, path, "", body, `{"results":[`+good,
			`},{"status":422,"error":"body.documents[1].text: document too short`,
			`},{"status":422,"error":"body.documents[2].id: a document needs an id","inserted":false},`+good, `},{"status":422,`+
				`"error":"body.documents[4]: only one of fingerprint, text and html can be given","inserted":false}]}`)
		if n := b.index.Load().Stats().Documents; n != 2 {
			t.Errorf("%s: %d documents", path, n)
		}
	}
}

// TestInsertIsWhole checks that queries see all documents of a list, or none.
func TestInsertIsWhole(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, nil), "")
	var done atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		defer done.Store(true)
		for round := range 50 {
			var list []string
			for i := range 200 {
				list = append(list, fmt.Sprintf(`{"id": "%d-%d", "fingerprint": "00000000000000ff"}`, round, i))
			}
			ask[answerList[insertAnswer]](t, b, "/v1/insert", `{"documents": [`+strings.Join(list, ",")+`]}`)
		}
	})
	for !done.Load() {
		if got := ask[Neighbours](t, b, "/v1/query",
			`{"fingerprint": "00000000000000ff", "limit": 1}`); got.Documents%200 != 0 {
			t.Errorf("%d documents: a part of a list", got.Documents)
		}
	}
	group.Wait()
}

// TestCheckAndInsertAdmitsOne checks that of several near-duplicates that arrive at the same time, exactly one is
// added.
func TestCheckAndInsertAdmitsOne(t *testing.T) {
	const rounds, others = 20, 8
	b := start(t, newIndex(t, 3, nil, nil), "")
	for round := range rounds {
		var admitted atomic.Int64
		var group sync.WaitGroup
		for i := range others {
			group.Go(func() {
				// Any two of them differ in at most 2 bits.
				f := uint64(round)<<32 | 1<<i
				id := fmt.Sprintf("r%d-%d", round, i)
				a := ask[checkAnswer](t, b, "/v1/check-and-insert",
					fmt.Sprintf(`{"id": %q, "fingerprint": "%016x", "k": 2}`, id, mixed(f)^f&0xff))
				switch {
				case a.Inserted && a.ID == id && a.Number != nil:
					admitted.Add(1)
				case a.Inserted || len(a.Hits) == 0 || a.Hits[0].Distance > 2:
					t.Errorf("%s: %+v", id, a)
				}
			})
		}
		if group.Wait(); admitted.Load() != 1 {
			t.Fatalf("round %d: %d admitted", round, admitted.Load())
		}
	}
}

// TestQueriesBesideReplacements checks that documents are replaced while queries look up the IDs of their hits. A hit
// that was deleted meanwhile is omitted, without an error.
func TestQueriesBesideReplacements(t *testing.T) {
	x, err := engine.New(3, engine.Options{})
	must.Do(t, err)
	b := start(t, x, "")
	var done atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		defer done.Store(true)
		for round := range 60 {
			var list []string
			for i := range 1000 {
				list = append(list, fmt.Sprintf(`{"id": "%d", "fingerprint": "%016x"}`, i, uint64(i%200)<<8|uint64(round%8)))
			}
			ask[answerList[insertAnswer]](t, b, "/v1/insert", `{"documents": [`+strings.Join(list, ",")+`]}`)
		}
	})
	asked := 0
	for ; !done.Load() || asked < 20; asked++ {
		f := fmt.Sprintf("%016x", uint64(asked%200)<<8)
		got := ask[Neighbours](t, b, "/v1/query", `{"fingerprint": "`+f+`"}`)
		for _, h := range got.Hits {
			if len(h.IDs) == 0 || h.Documents == 0 {
				t.Errorf("a hit without documents: %+v", h)
			}
		}
		ask[checkAnswer](t, b, "/v1/check-and-insert", `{"id": "never", "fingerprint": "`+f+`", "limit": 5}`)
		b.wants(t, http.StatusOK, "/v1/batch", "", strings.Repeat("\x00\x01\x00\x00\x00\x00\x00\x00", 50))
	}
	group.Wait()
	t.Logf("%d rounds of queries", asked)
}

// TestInsertWithoutIDs checks that an index of raw fingerprints only numbers its documents. It refuses IDs, which it
// cannot store, and texts, because it has no recipe.
func TestInsertWithoutIDs(t *testing.T) {
	x, err := engine.New(3, engine.Options{NoIDs: true})
	must.Do(t, err)
	b := start(t, x, "")
	for what, c := range map[string][2]string{
		"/v1/query":                     {`{"text": "a"}`, "no recipe"},
		"/v1/delete":                    {`{"id": "1"}`, "delete by fingerprint"},
		"/v1/insert":                    {`{"id": "a", ` + print0 + `}`, "keeps no ids: leave it out"},
		"/v1/check-and-insert":          {`{"id": "a", ` + print0 + `}`, "keeps no ids: leave it out"},
		"GET /v1/documents":             {"", "keeps no ids"},
		"GET /v1/documents/a":           {"", "keeps no ids"},
		"DELETE /v1/documents?prefix=a": {"", "keeps no ids"},
	} {
		b.wants(t, http.StatusUnprocessableEntity, what, "", c[0], c[1])
	}
	b.wants(t, http.StatusOK, "/v1/insert", "", `{"documents": [{`+print0+`}, {"fingerprint": "00000000000000ff"}]}`,
		`"inserted":true,"id":"1","number":1,`)
	b.wants(t, http.StatusOK, "/v1/check-and-insert", "", `{"fingerprint":"000000000000ffff"}`, `"inserted":true,"id":"2"`)
}

// mixed mixes all bits of a value, because the values share their upper half.
func mixed(f uint64) uint64 {
	f >>= 32
	return oracle.Term(int(f), f) &^ 0xff
}

// TestPages checks that the pages are served without a token, by GET and HEAD, also while the index is loaded, and hold
// no data.
func TestPages(t *testing.T) {
	b := start(t, nil, tokenLines)
	for _, path := range []string{"/", "/docs", "/ui/main.js", "/ui/style.css"} {
		status, header, body := b.do(t, b.request(t, "GET "+path, "", ""))
		if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'none'") ||
			len(body) < 1000 {
			t.Errorf("%s: %d %v", path, status, header)
		}
		b.wants(t, http.StatusOK, "HEAD "+path, "", "")
		status, header, _ = b.do(t, b.request(t, "POST "+path, "", ""))
		if status != http.StatusMethodNotAllowed || header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d, Allow %q", path, status, header.Get("Allow"))
		}
	}
}
