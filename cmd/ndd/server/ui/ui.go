// Package ui has the pages of the server: / shows what the index holds and finds near-duplicates,
// /docs is the reference of the interface. They are files that the program carries, in static;
// nothing is loaded from elsewhere, and the Content-Security-Policy keeps the browser to that.
//
// The pages hold no data: they ask the server for it, with the token that the reader types where
// one is needed, which is kept in the page's memory only.
package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static
var static embed.FS

// policy lets a page load what this server has, run nothing that stands in it, send no forms, and
// be in no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri " +
	"'none'; form-action 'none'; frame-ancestors 'none'"

// A page is one file as it is sent.
type page struct {
	data  []byte
	media string
	tag   string // for If-None-Match
}

// Pages are all files, by path. They are safe for concurrent use.
type Pages struct{ pages map[string]page }

// New returns the pages. It panics if the program carries none, which a build cannot do.
func New() *Pages {
	p := &Pages{map[string]page{}}
	entries, err := fs.ReadDir(static, "static")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		data, err := static.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		to := "/ui/" + e.Name()
		switch e.Name() {
		case "index.html":
			to = "/"
		case "docs.html":
			to = "/docs"
		}
		media := mime.TypeByExtension(path.Ext(e.Name()))
		if strings.HasSuffix(e.Name(), ".js") {
			media = "text/javascript; charset=utf-8" // whatever this machine's tables say
		}
		p.pages[to] = page{data, media, fmt.Sprintf(`"%.16x"`, sha256.Sum256(data))}
	}
	return p
}

// Has says whether there is a page of that path.
func (p *Pages) Has(path string) bool {
	_, ok := p.pages[path]
	return ok
}

// ServeHTTP sends a page that there is, by GET or HEAD.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one, ok := p.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", one.media)
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", one.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(one.data))
}
