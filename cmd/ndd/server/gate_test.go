package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ndd/cmd/ndd/server/admit"
)

// Over capacity the server sheds with Retry-After; queries, batches and
// inserts do not starve each other; and it recovers.
func TestOverloadShedsAndRecovers(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0}), "")
	brief := func(name string) *admit.Gate {
		return admit.NewGate(admit.Options{Name: name, Slots: 2, Places: 10, WaitMax: 20 * time.Millisecond}, nil)
	}
	b.queries, b.batches, b.inserts = brief("query"), brief("batch"), brief("insert")
	b.Config.Handler = b.handler(true)
	for _, c := range []struct {
		gate              **admit.Gate
		what, body, other string
	}{
		{&b.queries, "POST /v1/query", `{"fingerprint": "0000000000000000"}`, "POST /v1/batch"},
		{&b.batches, "POST /v1/batch", "12345678", "POST /v1/query"},
		{&b.inserts, "POST /v1/check-and-insert", `{"id": "a", "fingerprint": "0000000000000000"}`, "POST /v1/batch"},
	} {
		var in []*admit.Pass
		for range (*c.gate).State().Slots {
			p, err := (*c.gate).Enter(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			in = append(in, p)
		}
		for range 3 {
			status, header, body := b.roundTrip(t, b.request(t, c.what, "", c.body))
			if status != http.StatusTooManyRequests || header.Get("Retry-After") != "1" {
				t.Errorf("%s, full: %d %s", c.what, status, body)
			}
		}
		other := map[string]string{"POST /v1/batch": "12345678", "POST /v1/query": `{"fingerprint": "0000000000000000"}`}[c.other]
		if status, body := b.send(t, c.other, "", other); status != http.StatusOK {
			t.Errorf("%s while %s is full: %d %s", c.other, c.what, status, body)
		}
		if status, _ := b.send(t, "GET /readyz", "", ""); status != http.StatusOK {
			t.Errorf("/readyz while %s is full: %d", c.what, status)
		}
		for _, p := range in {
			p.Leave()
		}
		if status, body := b.send(t, c.what, "", c.body); status != http.StatusOK {
			t.Errorf("%s, with room again: %d %s", c.what, status, body)
		}
	}
	b.Config.Handler = b.adminHandler(true, false)
	_, body := b.send(t, "GET /metrics", "", "")
	for _, gate := range []string{"query", "batch", "insert"} {
		if want := fmt.Sprintf(`ndd_http_shed_total{gate=%q,why="late"} 3`, gate); !strings.Contains(body, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}
