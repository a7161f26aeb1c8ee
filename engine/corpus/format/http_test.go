package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"example.org/ndd/engine/oracle/must"
)

// TestMediaTypes checks that a page is one though its media type is malformed or unknown, and headers are never text.
func TestMediaTypes(t *testing.T) {
	const page, text, none = "Two words\nand more", "<p>Two words<p>and more", ""
	for media, want := range map[string]string{
		"text/html charset=utf-8":            page,
		"text/html, text/html":               page,
		"text/html,text/html; charset=utf-8": page,
		"\"text/html\"; charset=utf-8":       page,
		"TEXT/HTML;;charset":                 page,
		"text/x-server-parsed-html":          page,
		"text/htm":                           page,
		"text":                               page,
		"html":                               page,
		"*/*":                                page,
		"http/1.1":                           page,
		"httpd/unix-directory":               page,
		"":                                   page,
		"text/plain":                         text,
		"text/plain charset=utf-8":           text,
		"image/png":                          none,
		"text/css":                           none,
		"application/octet-stream, application/binary": none,
	} {
		const body = "<p>Two words<p>and more"
		for kind, record := range map[string]string{
			"response":       crawled("u", "200 OK\nContent-Type: "+media, body),
			"ICY":            strings.Replace(crawled("u", "200 OK\nContent-Type: "+media, body), "HTTP/1.1", "ICY     ", 1),
			"resource":       record("resource", body, "Content-Type", media, "WARC-Target-URI", "u"),
			"other protocol": record("response", body, "Content-Type", media, "WARC-Target-URI", "u"),
		} {
			got, err := read(t, Options{Format: WARC}, strings.NewReader(record), "-")
			if wanted := []string{"u: " + want}; err != nil || want != none && !slices.Equal(got, wanted) ||
				want == none && !strings.Contains(fmt.Sprint(got), "skip: -:1: no page: ") {
				t.Errorf("%s of type %q: %q, %v, want %q", kind, media, got, err, want)
			}
		}
	}
	for name, c := range map[string]struct{ record, want string }{
		"a record of a malformed type": {strings.Replace(crawled("u", "200 OK\nContent-Type: text/html", "<p>One"),
			"application/http; msgtype=response", "http/1.1", 1), "u: One"},
		"a record of the page's type": {strings.Replace(crawled("u", "200 OK\nContent-Type: text/html", "<p>One"),
			"application/http; msgtype=response", "text/html", 1), "u: One"},
		"text of an unknown type": {crawled("u", "200 OK\nContent-Type: text/x-note", "One <b>"), "u: One <b>"},
		"XML of an unknown type":  {crawled("u", "200 OK\nContent-Type: text/xml", "<?xml?>\n<feed>"), "u: <?xml?>\n<feed>"},
		"bytes of an unknown type": {crawled("u", "200 OK\nContent-Type: text/x-note", "a\x00b"),
			`skip: -:1: no page: 3 bytes of type "text/x-note"`},
		"a charset after a blank": {crawled("u", "200 OK\nContent-Type: text/html Charset = 'windows-1251'",
			"<p>\xcf\xf0\xe8\xe2\xe5\xf2"), "u: Привет"},
		"a failure of the radio": {strings.Replace(crawled("u", "404 No", "<p>One"), "HTTP/1.1", "ICY     ", 1),
			"skip: -:1: no page: HTTP status 404"},
	} {
		got, err := read(t, Options{Format: WARC}, strings.NewReader(c.record), "-")
		if err != nil || !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// TestContentEncodings checks that bodies are unpacked. A body is read unchanged if its coding is unknown or was
// already removed.
func TestContentEncodings(t *testing.T) {
	const page = "<p>One and two"
	var b bytes.Buffer
	w := brotli.NewWriter(&b)
	w.Write([]byte(page))
	must.Do(t, w.Close())
	br := b.String()
	for coding, body := range map[string]string{"br": br, "BR": br, "none": page, "utf-8": page, "8bit": page, "identity": page,
		"x-gzip": gz(t, page), "gzip, br": "", "br, gzip": gz(t, br), "gzip, gzip": gz(t, gz(t, page)), "gzip,identity": gz(t, page),
		"windows-1252": page, "br ": page, "deflate": page, "zstd": zst(t, page), "UTF-8, gzip": gz(t, page), "": page} {
		if coding == "gzip, br" {
			b.Reset()
			w.Reset(&b)
			w.Write([]byte(gz(t, page)))
			must.Do(t, w.Close())
			body = b.String()
		}
		record := crawled("u", "200 OK\nContent-Type: text/html\nContent-Encoding: "+coding, body)
		got, err := read(t, Options{Format: WARC}, strings.NewReader(record), "-")
		if err != nil || !slices.Equal(got, []string{"u: One and two"}) {
			t.Errorf("%s: %q, %v", coding, got, err)
		}
	}
	for coding, c := range map[string]struct{ body, want string }{
		"compress":                     {"\x1f\x9d\x90ab\xff", `content encoding "compress" is not understood`},
		"secret":                       {"\xff\x00", `content encoding "secret" is not understood`},
		"br":                           {"\xff\xff\xff", "content encoding br: brotli: "},
		"none":                         {"<p>Caf\xe9", "u: Caf\u00e9"},
		"gzip\r\nContent-Encoding: br": {"\xff\xff\xff", "content encoding br: brotli: "},
	} {
		record := crawled("u", "200 OK\nContent-Type: text/html\nContent-Encoding: "+coding, c.body)
		if got, err := read(t, Options{Format: WARC}, strings.NewReader(record), "-"); err != nil ||
			!strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: %q, %v, want %s", coding, got, err, c.want)
		}
	}
}
