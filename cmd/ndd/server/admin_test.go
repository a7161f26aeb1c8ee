package server

import (
	"net/http"
	"testing"
)

// The admin listener, too, answers on this machine only to names of this machine, and to no foreign web page.
func TestAdminHosts(t *testing.T) {
	b := start(t, nil, "")
	b.Config.Handler = b.adminHandler(true, true)
	for _, path := range []string{"/metrics", "/debug/pprof/", "/livez"} {
		for host, want := range map[string]int{"localhost": http.StatusOK, "evil.example": http.StatusMisdirectedRequest, "127.0.0.1.evil.example:7745": http.StatusMisdirectedRequest} {
			r := b.request(t, "GET "+path, "", "")
			r.Host = host
			if status, body := b.do(t, r); status != want {
				t.Errorf("%s at %s: %d %.100s, want %d", path, host, status, body, want)
			}
		}
	}
}
