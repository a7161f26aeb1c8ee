package plot

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"example.org/ndd/engine/oracle/must"
)

// TestPage formats pages with values, conditions and ranges.
func TestPage(t *testing.T) {
	type side struct{ Name string }
	value := struct {
		Title string
		N     int
		None  []int
		Sides []*side
		Words []string
		Drawn HTML
	}{Title: "a & b", N: 3, Sides: []*side{{"left"}, {"right"}}, Words: []string{"x", "<y>"}, Drawn: "<svg/>"}
	for page, want := range map[string]string{
		"":                                     "",
		"no value }}":                          "no value }}",
		"{{.Title}}: {{.N}}}":                  "a &amp; b: 3}",
		"{{if .N}}some{{else}}none{{end}}.":    "some.",
		"{{if .None}}some{{else}}none{{end}}.": "none.",
		"{{if .None}}some{{end}}.":             ".",
		"{{range .Sides}}{{.Name}} of {{$.N}}, {{end}}":                    "left of 3, right of 3, ",
		"{{if .N}}{{range .Words}}[{{.}}]{{end}}{{end}}":                   "[x][&lt;y&gt;]",
		"{{range .Words}}{{if .}}{{if $.None}}n{{end}}{{.}}{{end}}{{end}}": "x&lt;y&gt;",
		"a\n{{- if .N}}\nb\n{{- end}}\nc":                                  "a\nb\nc",
		"{{.Drawn}}":                                                       "<svg/>",
	} {
		if got := NewPage(page).Format(&value); got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
	if got := NewTextPage("{{.Title}}").Format(value); got != "a & b" {
		t.Errorf("as text: %q", got)
	}
}

// TestInvalidPages checks that an invalid page and an unknown field panic.
func TestInvalidPages(t *testing.T) {
	for _, page := range []string{"{{.N", "{{}}", "{{end}}", "{{else}}", "{{if .N}}", "{{range .N}}x",
		"{{with .N}}x{{end}}", "{{if .N}}{{else}}{{else}}{{end}}", "{{.Missing}}"} {
		must.Panic(t, page, func() { NewPage(page).Format(struct{ N int }{1}) })
	}
}

// FuzzPage checks that every value becomes text of the page or of an attribute, and never markup.
func FuzzPage(f *testing.F) {
	for _, s := range []string{`<script>alert(1)</script>`, `" onclick="x`, `' onclick='x`, `</title><b>`, "<!--",
		"--><i>", "]]>", "&lt;b&gt;", "&#60;b&#62;", "\x00<\x00b>", "\xff<b>", "{{.}}", "`<b>"} {
		f.Add(s)
	}
	page := NewPage(`<title>{{.}}</title><p title="{{.}}">{{.}}</p>`)
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\x00\r") {
			return // HTML cannot express these characters
		}
		var tokens, attributes []string
		z := html.NewTokenizer(strings.NewReader(page.Format(s)))
		for z.Next() != html.ErrorToken {
			token := z.Token()
			if token.Type != html.TextToken {
				tokens = append(tokens, token.Data)
			} else if token.Data != s {
				t.Errorf("%q became %q", s, token.Data)
			}
			for _, a := range token.Attr {
				attributes = append(attributes, a.Key, a.Val)
			}
		}
		if strings.Join(tokens, " ") != "title title p p" || len(attributes) != 2 || attributes[1] != s {
			t.Errorf("%q: elements %q, attributes %q", s, tokens, attributes)
		}
	})
}
