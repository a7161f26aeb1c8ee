package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"ndd/engine/corpus/simhash"
)

// The detail of a refusal says where and what to do by itself, and names the limits of this server and of this index.
func TestRefusalsSayWhereAndWhat(t *testing.T) {
	limits := Limits{Connections: 100, Body: 1 << 20, Documents: 2, Fingerprints: 50, Answer: 1 << 20, RequestMemory: 64 << 20, Timeout: waitMax, Queue: waitMax}
	b := startWith(t, newIndex(t, 3, defaultRecipe(), nil), "", limits)
	const hex = `"fingerprint": "00000000000000ff"`
	for _, c := range []struct {
		route, contentType, body string
		status                   int
		detail                   string
	}{
		{"/v1/query", "", `{` + hex + `, "k": 65}`, 422, "body.k: k = 65, but the index was built for k from 0 to 3"},
		{"/v1/query", "", `{` + hex + `, "k": 1e12}`, 422, "body.k: k = 2147483647, but the index was built for k from 0 to 3"},
		{"/v1/query", "", `{` + hex + `, "k": -1}`, 422, "body.k: k = -1, but the index was built for k from 0 to 3"},
		{"/v1/query?k=99", "", `{` + hex + `}`, 422, "query.k: k = 99, but the index was built for k from 0 to 3"},
		{"/v1/query?k=x", "", `{` + hex + `}`, 422, `query.k: "x" must be a whole number`},
		{"/v1/query?limit=0", "", `{` + hex + `}`, 422, "query.limit: 0 must be from 1 to 65536"},
		{"/v1/query?limi=1", "", `{` + hex + `}`, 422, "query.limi: unknown query parameter: there are k, limit"},
		{"/v1/delete?id=a", "", `{"id": "a"}`, 422, "query.id: unknown query parameter: there are none"},
		{"/v1/query", "", `{"fingerprint": "abc"}`, 422, "body.fingerprint: expected string to be 16 hexadecimal digits"},
		{"/v1/query", "", `{"texd": "", "k": "3"}`, 422, "body.k: expected integer (and 1 more error)"},
		{"/v1/query", "", `{"texd": ""}`, 422, "body.texd: unexpected property: there are fingerprint, html, k, limit, text"},
		{"/v1/query", "", `{"text": "a",, }`, 400, "body: invalid character ',' looking for beginning of object key string, at byte 14; a document itself is sent with"},
		{"/v1/query", "", `{"text": `, 400, "body: unexpected end of JSON input, at byte 9; a document itself is sent with"},
		{"/v1/query", "text/html", `short`, 422, "body: document too short for a fingerprint"},
		{"/v1/insert?id=a", "text/html", `short`, 422, "body: document too short for a fingerprint"},
		{"/v1/insert", "", `{"id": "", ` + hex + `}`, 422, "body.id: expected length >= 1"},
		{"/v1/insert", "", `{"id": "a\tb", ` + hex + `}`, 422, "body.id: expected string to be text without control characters"},
		{"/v1/insert", "", `{"documents": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}`, 422, "body.documents: expected array length <= 2 (--max-documents)"},
		{"/v1/delete", "", `{"ids": ["a", "b", "c"]}`, 422, "body.ids: expected array length <= 2 (--max-documents)"},
		{"/v1/delete", "", `{"id": "a", ` + hex + `}`, 422, "body: only one of id, ids and fingerprint can be given"},
		{"/v1/compare", "", `{"a": {` + hex + `}, "b_id": "a"}`, 404, "body.b_id: no file is shown by a server that was started without --show-files"},
		{"/v1/copies", "", `{"text": "a"}`, 404, "/v1/copies is there where the server was started with --copies"},
		{"/v1/backup", "", `{"name": "a"}`, 404, "/v1/backup is there where the server was started with --backup-dir"},
	} {
		status, body := b.send(t, "POST "+c.route, c.contentType, c.body)
		var got struct{ Detail string }
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != c.status || !strings.HasPrefix(got.Detail, c.detail) {
			t.Errorf("%s %s: %d %s\nwant %d %s", c.route, c.body, status, body, c.status, c.detail)
		}
		if strings.HasSuffix(c.detail, ")") && got.Detail != c.detail {
			t.Errorf("%s %s: %s", c.route, c.body, got.Detail)
		}
	}
}

// A document that is the whole body is read as the charset of its type says.
func TestBodiesHaveCharsets(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	const text = "Übergrößenträger müssen über die Brücke fahren, höflich grüßen und schöne Mädchen früh küssen"
	const english = "Now is the winter of our discontent made glorious summer by this sun of York"
	f, err := simhash.New(simhash.Default())
	if err != nil {
		t.Fatal(err)
	}
	latin, _ := charmap.ISO8859_1.NewEncoder().String(text)
	wide, _ := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(english)
	for _, c := range []struct{ contentType, body, text string }{
		{"text/plain; charset=utf-8", text, text},
		{"text/plain; charset=iso-8859-1", latin, text},
		{"Text/HTML; Charset=ISO-8859-1", "<p>" + latin, text},
		{"text/plain; charset=utf-16le", wide, english},
	} {
		print, _, ok := f.Fingerprint(c.text)
		status, body := b.send(t, "POST /v1/query", c.contentType, c.body)
		if !ok || status != http.StatusOK || !strings.Contains(body, fmt.Sprintf(`{"fingerprint":%q,`, print)) {
			t.Errorf("%s: %d %s, want %s", c.contentType, status, body, print)
		}
		status, body = b.send(t, "POST /v1/insert?id="+print.String(), c.contentType, c.body)
		if status != http.StatusOK || !strings.Contains(body, fmt.Sprintf(`"fingerprint":%q`, print)) {
			t.Errorf("insert, %s: %d %s, want %s", c.contentType, status, body, print)
		}
	}
	status, body := b.send(t, "POST /v1/query", "text/plain; charset=foo", latin)
	if status != http.StatusUnsupportedMediaType || !strings.Contains(body, `charset \"foo\" is unknown: send UTF-8`) {
		t.Errorf("an unknown charset: %d %s", status, body)
	}
}
