package server

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ndd/engine"
	"ndd/engine/oracle"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
)

// Every answer of /v1/query is the oracle's, for sets of every shape and each k.
func TestQueryIsTheOracle(t *testing.T) {
	const most = 3
	for _, set := range sets.All(1000, 30, most, 7) {
		b := start(t, newIndex(t, most, nil, set.Base), "")
		for k := 0; k <= most; k++ {
			hits := oracle.Search(set.Base, set.Queries, k)
			for q, query := range set.Queries {
				got := ask[Neighbours](t, b, "/v1/query", fmt.Sprintf(`{"fingerprint": "%016x", "k": %d, "limit": 65536}`, query,
					k))
				want := answerOf(query, k, q, hits)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%s, k = %d, query %016x:\n got %+v\nwant %+v", set.Name, k, query, got, want)
				}
			}
		}
	}
}

// answerOf is what the server should say, from the oracle's hits of a query.
func answerOf(query uint64, k, row int, hits []oracle.Hit) Neighbours {
	n := Neighbours{Fingerprint: fmt.Sprintf("%016x", query), K: k, Hits: []hit{}}
	for _, h := range hits {
		if h.Query != row {
			continue
		}
		n.Documents++
		f := fmt.Sprintf("%016x", h.Fingerprint)
		if len(n.Hits) == 0 || n.Hits[len(n.Hits)-1].Fingerprint != f {
			n.Hits = append(n.Hits, hit{Fingerprint: f, Distance: h.Distance})
		}
		last := &n.Hits[len(n.Hits)-1]
		last.Documents++
		last.IDs = append(last.IDs, fmt.Sprintf("row-%d", h.Row))
	}
	return n
}

// A list is answered document by document: those that cannot be stored say why, and keep no other
// out.
func TestInsertAnswersForEach(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	body := fmt.Sprintf(`{"documents": [{"id": "a", "text": %q}, {"id": "b", "text": "too short"},
		{"fingerprint": "0000000000000000"},
		{"id": "d", "fingerprint": "00000000000000ff"}, {"id": "e", "text": "x", "html": "y"}]}`, pageA)
	for _, path := range []string{"/v1/insert", "/v1/check-and-insert"} {
		got := ask[answerList[checkAnswer]](t, b, path, body).Results
		inserted := path == "/v1/insert" // the second time, the good ones are near themselves
		for i, want := range []string{"", "body.documents[1].text: document too short",
			"body.documents[2].id: a document needs an id", "",
			"body.documents[4]: only one of fingerprint, text and html can be given"} {
			status := 200
			if want != "" {
				status = 422
			}
			if r := got[i]; r.Status != status || !strings.HasPrefix(r.Error, want) || r.Inserted != (inserted && want == "") {
				t.Errorf("%s, document %d: %+v, want %q", path, i, r, want)
			}
		}
		if n := b.index.Load().Stats().Documents; n != 2 {
			t.Errorf("%s: %d documents", path, n)
		}
	}
}

// The documents of a list are visible together or not at all.
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

// Of near-duplicates that arrive together exactly one is added.
func TestCheckAndInsertAdmitsOne(t *testing.T) {
	const rounds, others = 20, 8
	b := start(t, newIndex(t, 3, nil, nil), "")
	for round := range rounds {
		var admitted, refused int
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range others {
			group.Go(func() {
				// Any two of them differ in at most 2 bits.
				f := uint64(round)<<32 | 1<<i
				a := ask[checkAnswer](t, b, "/v1/check-and-insert",
					fmt.Sprintf(`{"id": "r%d-%d", "fingerprint": "%016x", "k": 2}`, round, i, mixed(f)^f&0xff))
				mu.Lock()
				defer mu.Unlock()
				if a.Inserted {
					admitted++
					if a.ID != fmt.Sprintf("r%d-%d", round, i) || a.Number == nil {
						t.Errorf("admitted: %+v", a)
					}
				} else {
					refused++
					if len(a.Hits) == 0 || a.Hits[0].Distance > 2 {
						t.Errorf("refused without a reason: %+v", a)
					}
				}
			})
		}
		group.Wait()
		if admitted != 1 || refused != others-1 {
			t.Fatalf("round %d: %d admitted, %d refused", round, admitted, refused)
		}
	}
}

// A list is decided upon in order, an answer for each: what is near one before it is told which it
// is.
func TestCheckAndInsertList(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0xff}), "")
	got := ask[answerList[checkAnswer]](t, b, "/v1/check-and-insert", `{"k": 2, "documents": [
		{"id": "new", "fingerprint": "00000000ffff0000"}, {"id": "near the stored one", "fingerprint": "00000000000000fe"},
		{"id": "near new", "fingerprint": "00000000ffff0003"}, {"id": "far", "fingerprint": "00000000ffff0007"}]}`)
	var text []string
	for _, r := range got.Results {
		line := fmt.Sprint(r.Inserted, " ", r.ID)
		for _, h := range r.Hits {
			line += fmt.Sprint(" held by ", h.IDs, " at ", h.Distance)
		}
		text = append(text, line)
	}
	want := []string{"true new", "false  held by [row-0] at 1", "false  held by [new] at 2", "true far"}
	if !slices.Equal(text, want) {
		t.Errorf("got %q\nwant %q", text, want)
	}
	if n := b.index.Load().Stats().Documents; n != 3 {
		t.Errorf("%d documents", n)
	}
	one := ask[answerList[checkAnswer]](t, b, "/v1/check-and-insert",
		`{"limit": 2, "documents": [{"id": "one", "fingerprint": "00000000ffff0007"}]}`)
	if len(one.Results) != 1 || len(one.Results[0].Hits) != 2 {
		t.Errorf("a list of one, with a limit of 2: %+v", one)
	}
}

// Documents are replaced by others of their IDs while queries that have found them look their IDs
// up: what is gone by then is left out, and is no error.
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

// An index of raw fingerprints numbers its documents: it takes none with an id, which it would
// drop.
func TestInsertWithoutIDs(t *testing.T) {
	x, err := engine.New(3, engine.Options{NoIDs: true})
	must.Do(t, err)
	b := start(t, x, "")
	added := ask[answerList[insertAnswer]](t, b, "/v1/insert",
		`{"documents": [{"fingerprint": "0000000000000000"}, {"fingerprint": "00000000000000ff"}]}`)
	checked := ask[checkAnswer](t, b, "/v1/check-and-insert", `{"fingerprint": "000000000000ffff"}`)
	if len(added.Results) != 2 || added.Results[1].ID != "1" || *added.Results[1].Number != 1 || !checked.Inserted ||
		checked.ID != "2" {
		t.Errorf("%+v, %+v", added, checked)
	}
	b.wants(t, http.StatusUnprocessableEntity, "/v1/delete", "", `{"id": "1"}`, "delete by fingerprint")
	for _, path := range []string{"insert", "check-and-insert"} {
		b.wants(t, http.StatusUnprocessableEntity, "/v1/"+path, "", `{"id": "a", "fingerprint": "ffff000000000000"}`,
			"keeps no ids: leave it out")
	}
	if n := b.index.Load().Stats().Documents; n != 3 {
		t.Errorf("%d documents", n)
	}
}

// mixed spreads what others have in common, the upper half, over all bits.
func mixed(f uint64) uint64 {
	f >>= 32
	return oracle.Term(int(f), f) &^ 0xff
}

// The pages are served without a token, by GET and HEAD, also while the index is loaded, and hold
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
