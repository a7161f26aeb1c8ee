package server

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"ndd/cmd/ndd/server/access"
)

const (
	readToken  = "read-0123456789abcdef"
	writeToken = "write-0123456789abcdef"
	adminToken = "admin-0123456789abcdef"
	tokenLines = "# who may do what\n\n" + readToken + " read\n" + writeToken + "\twrite\n  " + adminToken + " admin\n"
)

// Every endpoint against every bearer.
func TestWhoMayDoWhat(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0}), tokenLines)
	body := map[string]string{
		"POST /v1/query":            `{"fingerprint": "0000000000000000"}`,
		"POST /v1/insert":           `{"id": "a", "fingerprint": "0000000000000000"}`,
		"POST /v1/check-and-insert": `{"id": "a", "fingerprint": "0000000000000000"}`,
		"POST /v1/delete":           `{"id": "none"}`,
		"POST /v1/compare":          `{"a": {"fingerprint": "0000000000000000"}, "b": {"fingerprint": "0000000000000001"}}`,
		"POST /v1/batch":            "\x00\x00\x00\x00\x00\x00\x00\x00",
	}
	bearers := []struct {
		header string
		has    access.Role
		known  bool
	}{
		{"", access.Anyone, false},
		{"Bearer", access.Anyone, false},
		{"Bearer ", access.Anyone, false},
		{"Bearer unknown-0123456789abcdef", access.Anyone, false},
		{"Bearer " + readToken[:len(readToken)-1], access.Anyone, false},
		{"Bearer " + readToken + "0", access.Anyone, false},
		{"Basic " + adminToken, access.Anyone, false},
		{adminToken, access.Anyone, false},
		{"Bearer " + readToken, access.Read, true},
		{"bearer " + readToken, access.Read, true},
		{"Bearer " + writeToken, access.Write, true},
		{"Bearer " + adminToken, access.Admin, true},
	}
	for _, route := range b.routes() {
		for _, bearer := range bearers {
			r := b.request(t, route.pattern, "", body[route.pattern])
			if bearer.header != "" {
				r.Header.Set("Authorization", bearer.header)
			}
			status, header, answer := b.roundTrip(t, r)
			want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[bearer.has >= route.least]
			if route.least > access.Anyone && !bearer.known {
				want = http.StatusUnauthorized
			}
			if status != want {
				t.Errorf("%s with %q: %d %s, want %d", route.pattern, bearer.header, status, answer, want)
			}
			if (status == http.StatusUnauthorized) != (header.Get("WWW-Authenticate") != "") {
				t.Errorf("%s with %q: %d and WWW-Authenticate %q", route.pattern, bearer.header, status, header.Get("WWW-Authenticate"))
			}
			if strings.Contains(answer, "0123456789abcdef") {
				t.Errorf("%s with %q: the answer gives a token away: %s", route.pattern, bearer.header, answer)
			}
		}
	}
	if n := b.index.Load().Stats().Documents; n != 1+1 {
		t.Errorf("%d documents, want 2: the one before, and that of write, which admin replaced", n)
	}
}

// The admin listener wants role admin where there are tokens.
func TestWhoMaySeeMetrics(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0, 1}), tokenLines)
	for _, c := range []struct {
		path, token string
		withPProf   bool
		status      int
		word        string
	}{
		{"/metrics", "", true, 401, "token"},
		{"/metrics", readToken, true, 403, "admin"},
		{"/metrics", writeToken, true, 403, "admin"},
		{"/metrics", adminToken, false, 200, "ndd_index_documents 2"},
		{"/metrics", adminToken, false, 200, "ndd_ready 1"},
		{"/debug/pprof/", adminToken, true, 200, "goroutine"},
		{"/debug/pprof/", adminToken, false, 404, ""},
		{"/debug/pprof/", "", true, 401, "token"},
		{"/v1/query", adminToken, true, 404, ""},
	} {
		b.Config.Handler = b.adminHandler(true, c.withPProf)
		r := b.request(t, "GET "+c.path, "", "")
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		if status, body := b.do(t, r); status != c.status || !strings.Contains(body, c.word) {
			t.Errorf("%s with %q, pprof %v: %d %.200s", c.path, c.token, c.withPProf, status, body)
		}
	}
}

// Reading again takes a good file and keeps the old tokens with a bad one.
func TestReload(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0}), tokenLines)
	status := func(token string) int {
		r := b.request(t, "POST /v1/query", "", `{"fingerprint": "0000000000000000"}`)
		r.Header.Set("Authorization", "Bearer "+token)
		s, _ := b.do(t, r)
		return s
	}
	const fresh = "fresh-0123456789abcdef"
	for _, c := range []struct {
		text       string
		old, fresh int
	}{
		{tokenLines, 200, 401},
		{"rubbish\n", 200, 401},
		{fresh + " read\n", 401, 200},
		{fresh, 401, 200},
		{"# none\n", 401, 401}, // an emptied file lets nobody in
		{tokenLines, 200, 401},
		{"", 401, 401},
	} {
		if err := os.WriteFile(b.tokens, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		b.reload(t.Context())
		if old, new := status(readToken), status(fresh); old != c.old || new != c.fresh {
			t.Errorf("after reading %q: the old token %d, the fresh one %d; want %d, %d", c.text, old, new, c.old, c.fresh)
		}
	}
	if log := b.journal.String(); strings.Count(log, "the tokens are unchanged") != 2 || strings.Count(log, "nobody is let in") != 2 || strings.Contains(log, "0123456789abcdef") {
		t.Errorf("log:\n%s", log)
	}
}

func TestAddressesThatNeedTokens(t *testing.T) {
	for _, c := range []struct {
		listen, admin, tokens string
		insecure, ok          bool
	}{
		{"127.0.0.1:0", "127.0.0.1:0", "", false, true},
		{"localhost:0", "", "", false, true},
		{"[::1]:0", "127.8.8.8:0", "", false, true},
		{"[::ffff:127.0.0.1]:0", "", "", false, true},
		{"0.0.0.0:0", "", "", false, false},
		{":7744", "", "", false, false},
		{"[::]:0", "", "", false, false},
		{"10.0.0.1:0", "", "", false, false},
		{"localhost.evil.example:0", "", "", false, false},
		{"127.0.0.1:0", "0.0.0.0:0", "", false, false},
		{"0.0.0.0:0", "0.0.0.0:0", "tokens", false, true},
		{"0.0.0.0:0", "", "", true, true},
		{"127.0.0.1", "", "", true, false},
		{"", "", "", true, false},
	} {
		o := Options{Listen: c.listen, Admin: c.admin, TokenFile: c.tokens, InsecureNoAuth: c.insecure}
		if err := o.Validate(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
