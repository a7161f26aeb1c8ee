package ui

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestPages checks that every page is sent with the policy, and needs nothing that is not the server's own.
func TestPages(t *testing.T) {
	pages := Pages()
	media := map[string]string{".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", "": "text/html"}
	elsewhere := regexp.MustCompile(`(?:src|href|url|import|fetch)\s*[=(]?\s*["'(]?(?:https?:)?//`)
	inline := regexp.MustCompile(`<script>|<style| style="| on[a-z]+="|innerHTML|insertAdjacentHTML|` +
		`localStorage|sessionStorage|document\.cookie|eval\(`)
	local := regexp.MustCompile(`(?:src|href)="(/[^"#]*)"|from "(/[^"]*)"`)
	for path, handler := range pages {
		one := handler.(page)
		w := httptest.NewRecorder()
		one.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		kind := ""
		if i := strings.LastIndex(path, "."); i >= 0 {
			kind = path[i:]
		}
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), media[kind]) ||
			w.Body.Len() != len(one.data) {
			t.Errorf("%s: %d, %s, %d bytes", path, w.Code, w.Header().Get("Content-Type"), w.Body.Len())
		}
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'; script-src 'self'",
			"Referrer-Policy": "no-referrer"} {
			if !strings.HasPrefix(w.Header().Get(name), want) {
				t.Errorf("%s: %s: %q", path, name, w.Header().Get(name))
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Error("the policy allows what it should not")
		}
		text := string(one.data)
		if m := elsewhere.FindString(text); m != "" {
			t.Errorf("%s loads from elsewhere: %s", path, m)
		}
		if m := inline.FindString(text); m != "" {
			t.Errorf("%s has %q", path, m)
		}
		for _, m := range local.FindAllStringSubmatch(text, -1) {
			if to := m[1] + m[2]; pages[to] == nil && to != "/openapi.json" {
				t.Errorf("%s leads to %s, which is not there", path, to)
			}
		}
		again := httptest.NewRequest("GET", path, nil)
		again.Header.Set("If-None-Match", w.Header().Get("ETag"))
		w = httptest.NewRecorder()
		if one.ServeHTTP(w, again); w.Code != http.StatusNotModified {
			t.Errorf("%s again: %d", path, w.Code)
		}
	}
}
