package document

import (
	"strings"
	"testing"
)

// TestUnknownCharset: an encoding that nobody knows is named where the bytes leave a doubt, and
// nowhere else.
func TestUnknownCharset(t *testing.T) {
	const latin = "caf\xe9 cr\xe8me, na\xefve"
	for _, c := range []struct {
		name, raw, contentType string
		format                 Format
		want                   string
	}{
		{"by type", latin, "text/plain; charset=foo", Text, "foo"},
		{"of ASCII", "coffee", "text/plain; charset=foo", Text, ""},
		{"of valid UTF-8", "caf\u00e9", "text/plain; charset=utf8mb4", Text, ""},
		{"known", latin, "text/plain; charset=ISO-8859-1", Text, ""},
		{"none", latin, "text/plain", Text, ""},
		{"broken type", latin, "text/plain; charset", Text, ""},
		{"meta", "<meta charset=x-foo><p>" + latin, "", HTML, "x-foo"},
		{"meta, quoted", "<html><META name=a><meta CHARSET = 'x-foo' ><p>" + latin, "", HTML, "x-foo"},
		{"http-equiv", "<meta http-equiv=content-type content=\"text/html; charset=x-foo\"><p>" + latin, "", HTML, "x-foo"},
		{"type before meta", "<meta charset=x-foo><p>" + latin, "text/html; charset=windows-1252", HTML, ""},
		{"known meta", "<meta charset=windows-1252><p>" + latin, "", HTML, ""},
		{"no meta", "<p charset=x-foo>" + latin, "", HTML, ""},
		{"meta without value", "<meta charset><meta charset=>" + latin, "", HTML, ""},
		{"long", "<meta charset=" + strings.Repeat("x", 100) + ">" + latin, "", HTML, strings.Repeat("x", 40)},
	} {
		u := Unit{format: c.format, raw: []byte(c.raw), contentType: c.contentType}
		if doc, err := NewExtractor(Options{}).Extract(u); err != nil || doc.Charset != c.want {
			t.Errorf("%s: %q, want %q; %v", c.name, doc.Charset, c.want, err)
		}
	}
}
