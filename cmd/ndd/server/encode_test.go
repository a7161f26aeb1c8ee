package server

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http/httptest"
	"testing"
)

// strange are ids that JSON writes with escapes, or that look so.
var strange = []string{"", "a", "https://a.example/?b=c&d=<e>", `"quoted"`, `\ and / more`, "tab\tline\n", "\x00\x1f\x7f", "é\u2028\u2029\U0001f600", "\xff\xc3", "�"}

// Answers are what encoding/json writes.
func TestEncodedAsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 2))
	text := func() string { return strange[rng.IntN(len(strange))] }
	yes := func() bool { return rng.IntN(2) == 0 }
	near := func() *Neighbours {
		n := &Neighbours{Fingerprint: "0123456789abcdef", K: rng.IntN(9), Documents: rng.IntN(1 << 20), Truncated: yes(), Hits: []hit{}}
		for range rng.IntN(4) {
			h := hit{Fingerprint: "fedcba9876543210", Distance: rng.IntN(9), Documents: rng.IntN(100), IDs: []string{}}
			for range rng.IntN(4) {
				h.IDs = append(h.IDs, text())
			}
			n.Hits = append(n.Hits, h)
		}
		return n
	}
	place := func() (ItemResult, string, *uint64) {
		r := ItemResult{}
		if yes() {
			r = ItemResult{Status: 200 + rng.IntN(300), Error: text()}
		}
		if yes() {
			return r, "", nil
		}
		number := rng.Uint64()
		return r, text(), &number
	}
	for range 2000 {
		p := refusal(400+rng.IntN(20), text())
		if yes() {
			p = misfit(text(), "%s", text())
		}
		compareEncoders(t, func(out []byte) []byte { return bytes.TrimSuffix(p.append(out), []byte{'\n'}) }, &p.ErrorModel)
		n := near()
		compareEncoders(t, n.append, n)
		r, id, number := place()
		c := &checkAnswer{ItemResult: r, Inserted: yes(), ID: id, Number: number, Replaced: yes(), Kept: yes()}
		if yes() {
			c.Neighbours = near()
		}
		compareEncoders(t, c.append, c)
		i := &insertAnswer{r, yes(), id, number, []string{"", "0123456789abcdef"}[rng.IntN(2)], yes(), yes()}
		compareEncoders(t, i.append, i)
	}
	several := []insertAnswer{{Inserted: true}, {ItemResult: ItemResult{422, "x"}}}
	w := httptest.NewRecorder()
	sendResults(w, several, false, (*insertAnswer).append, insertAnswer.alone)
	compareBytes(t, w.Body.Bytes(), insertAnswers{several})
	w = httptest.NewRecorder()
	sendResults(w, several[1:], true, (*insertAnswer).append, insertAnswer.alone)
	compareBytes(t, w.Body.Bytes(), several[1].alone())
}

func compareEncoders(t *testing.T, add func([]byte) []byte, v any) {
	t.Helper()
	compareBytes(t, append(add(nil), '\n'), v)
}

func compareBytes(t *testing.T, got []byte, v any) {
	t.Helper()
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Fatalf("%s, want\n%s", got, want.Bytes())
	}
}
