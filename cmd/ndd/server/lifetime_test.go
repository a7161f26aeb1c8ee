package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/index/live"
)

// A request says what becomes of a document whose ID is taken, whatever the server was started with, for one and
// for each of a list.
func TestOnConflict(t *testing.T) {
	for _, started := range []live.OnConflict{0, engine.Replace, engine.Keep, engine.Refuse} {
		for _, path := range []string{"/v1/insert", "/v1/check-and-insert"} {
			for given, want := range map[string]string{
				"replace": "200 true, list 200 true, 200 true", "keep": "200 false, list 200 false, 200 true", "error": "409 false, list 409 false, 200 true",
			} {
				x, err := engine.New(3, engine.Options{OnConflict: started})
				if err != nil {
					t.Fatal(err)
				}
				b := start(t, x, "")
				ask[checkAnswer](t, b, path+"?on_conflict=error", `{"id": "a", "fingerprint": "0000000000000000"}`)
				status, body := b.send(t, "POST "+path+"?on_conflict="+given, "", `{"id": "a", "fingerprint": "00000000ffffffff"}`)
				list := ask[checkAnswers](t, b, path+"?on_conflict="+given, `{"documents": [{"id": "a", "fingerprint": "ffffffff00000000"}, {"id": "b", "fingerprint": "ffff00000000ffff"}]}`)
				got := fmt.Sprint(status, " ", strings.Contains(body, `"inserted":true`), ", list ",
					list.Results[0].Status, " ", list.Results[0].Inserted, ", ", list.Results[1].Status, " ", list.Results[1].Inserted)
				if got != want {
					t.Errorf("started with %d, %s, %s: %s, want %s", started, path, given, got, want)
				}
				if status == http.StatusConflict && !strings.Contains(body, `is document 0`) {
					t.Errorf("%s", body)
				}
			}
		}
	}
}

// A server that refuses IDs that are taken says so for each document, and adds the others.
func TestOnConflictOfTheServer(t *testing.T) {
	x, err := engine.New(3, engine.Options{OnConflict: engine.Refuse})
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, x, "")
	list := `{"documents": [{"id": "a", "fingerprint": "0000000000000000"}, {"id": "b", "fingerprint": "ffff000000000000"}, {"id": "a", "fingerprint": "ffffffff00000000"}]}`
	got := ask[insertAnswers](t, b, "/v1/insert", list).Results
	if !got[0].Inserted || !got[1].Inserted || got[2].Inserted || got[2].Status != http.StatusConflict || !strings.Contains(got[2].Error, "there already") {
		t.Errorf("%+v", got)
	}
	if n := x.Stats().Documents; n != 2 {
		t.Errorf("%d documents", n)
	}
}

// A document is gone when its time is over, and stays where it has none.
func TestTTL(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, nil), "")
	ask[insertAnswer](t, b, "/v1/insert?ttl=1s", `{"id": "a", "fingerprint": "0000000000000000"}`)
	ask[insertAnswer](t, b, "/v1/insert?ttl=90d", `{"id": "b", "fingerprint": "0000000000000000"}`)
	ask[checkAnswer](t, b, "/v1/check-and-insert?ttl=forever", `{"id": "c", "fingerprint": "ffffffffffffffff"}`)
	eventually(t, "the one of a second is gone", func() bool {
		got := ask[Neighbours](t, b, "/v1/query", `{"fingerprint": "0000000000000000"}`)
		return len(got.Hits) == 1 && len(got.Hits[0].IDs) == 1 && got.Hits[0].IDs[0] == "b"
	})
	if got := ask[Neighbours](t, b, "/v1/query", `{"fingerprint": "ffffffffffffffff"}`); got.Documents != 1 {
		t.Errorf("%+v", got)
	}
}

func TestParseTTL(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1s": time.Second, "10m": 10 * time.Minute, "36h": 36 * time.Hour, "90d": 90 * 24 * time.Hour, "forever": engine.Forever, "999999d": engine.Forever,
		"": 0, "0s": 0, "-1s": 0, "1": 0, "s": 0, "1.5h": 0, "1h30m": 0, "1234567s": 0, "1y": 0, "01s": 0, "+1s": 0,
	} {
		if got, ok := parseTTL(text); got != want || ok != (want != 0) {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
	}
}
