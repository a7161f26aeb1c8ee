// Package ui has the pages of the server: / shows the index and finds near-duplicates, /docs is the reference of the
// interface. The files are embedded from the folder static. Pages load nothing from other sites; the
// Content-Security-Policy enforces that.
//
// The pages contain no data. They get it from the server, with the token that the user types if one is needed. The
// token is only in the memory of the page.
package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static
var static embed.FS

// policy allows a page to load files of this server. It allows no inline code, no forms and no frames.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A page is a file in the form in which it is sent.
type page struct {
	data  []byte
	media string
	tag   string // tag for If-None-Match
}

// Pages returns the handlers of all files, by path.
func Pages() map[string]http.Handler {
	pages := map[string]http.Handler{}
	entries, _ := static.ReadDir("static") // the folder is embedded
	for _, e := range entries {
		data, _ := static.ReadFile("static/" + e.Name())
		media := mime.TypeByExtension(path.Ext(e.Name()))
		if strings.HasSuffix(e.Name(), ".js") {
			media = "text/javascript; charset=utf-8" // the tables of this machine may have another type
		}
		to, known := map[string]string{"index.html": "/", "docs.html": "/docs"}[e.Name()]
		if !known {
			to = "/ui/" + e.Name()
		}
		pages[to] = page{data, media, fmt.Sprintf(`"%.16x"`, sha256.Sum256(data))}
	}
	return pages
}

// ServeHTTP sends the page.
func (p page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", p.media)
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", p.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.data))
}
