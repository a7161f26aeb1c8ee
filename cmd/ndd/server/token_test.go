package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
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
	}
	bearers := []struct {
		header string
		has    role
		known  bool
	}{
		{"", anyone, false},
		{"Bearer", anyone, false},
		{"Bearer ", anyone, false},
		{"Bearer unknown-0123456789abcdef", anyone, false},
		{"Bearer " + readToken[:len(readToken)-1], anyone, false},
		{"Bearer " + readToken + "0", anyone, false},
		{"Basic " + adminToken, anyone, false},
		{adminToken, anyone, false},
		{"Bearer " + readToken, reader, true},
		{"bearer " + readToken, reader, true},
		{"Bearer " + writeToken, writer, true},
		{"Bearer " + adminToken, admin, true},
	}
	for _, route := range b.routes() {
		for _, bearer := range bearers {
			r := b.request(t, route.pattern, "", body[route.pattern])
			if bearer.header != "" {
				r.Header.Set("Authorization", bearer.header)
			}
			status, header, answer := b.roundTrip(t, r)
			want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[bearer.has >= route.least]
			if route.least > anyone && !bearer.known {
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

func TestTokenFiles(t *testing.T) {
	for _, c := range []struct{ name, text, wrong string }{
		{"good", tokenLines, ""},
		{"one word", readToken + "\n", "line 1: must be a token and a role"},
		{"three words", "\n" + readToken + " read write\n", "line 2: must be a token and a role"},
		{"no role", readToken + " owner\n", "line 1: the role"},
		{"a short token", "secret read\n", "line 1: a token of 6 bytes"},
		{"one twice", tokenLines + readToken + " admin\n", "line 6: the token is already on"},
		{"empty", "# nothing\n\n", "no tokens"},
		{"a long line", strings.Repeat("x", 70_000) + " read\n", "too long"},
		{"too many", manyTokens(tokensMax + 1), "more than 10000"},
	} {
		path := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := newKeyring(path)
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
		}
		if err != nil && (strings.Contains(err.Error(), "0123456789abcdef") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: the error gives a token away: %v", c.name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "none")
	if _, err := newKeyring(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := newKeyring(t.TempDir()); err == nil {
		t.Error("a folder was taken for a token file")
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.WriteFile(path, []byte(tokenLines), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newKeyring(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
}

func manyTokens(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "token-%016d read\n", i)
	}
	return b.String()
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
		{"", 401, 200},
	} {
		if err := os.WriteFile(b.keys.path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		b.reload()
		if old, new := status(readToken), status(fresh); old != c.old || new != c.fresh {
			t.Errorf("after reading %q: the old token %d, the fresh one %d; want %d, %d", c.text, old, new, c.old, c.fresh)
		}
	}
	if log := b.journal.String(); strings.Count(log, "the tokens are unchanged") != 2 || strings.Contains(log, "0123456789abcdef") {
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

// Which Host headers a server for this machine alone answers to.
func TestHosts(t *testing.T) {
	for host, ok := range map[string]bool{
		"localhost": true, "localhost:7744": true, "LOCALHOST:1": true, "localhost.": true, "127.0.0.1": true, "127.1.2.3:80": true,
		"[::1]": true, "[::1]:7744": true,
		"": false, "evil.example": false, "localhost.evil.example:7744": false, "127.0.0.1.evil.example": false, "10.0.0.1:7744": false, "0.0.0.0:7744": false,
		"[::]:7744": false, "[fe80::1]": false, "user@localhost": false,
	} {
		if got := isLoopback(hostName(host)); got != ok {
			t.Errorf("%q: %v", host, got)
		}
	}
}
