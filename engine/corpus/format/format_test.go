package format

import (
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/input"
)

// TestFormats checks that a known ending decides the format, also before numbers and queries. The first bytes decide it
// for all other files, and these are counted.
func TestFormats(t *testing.T) {
	const page = "<!DOCTYPE html>\n<html><p>One</p></html>"
	lines := `{"n":1,"text":"a"}` + "\n\n" + `{"text":"b"}` + "\n"
	for name, c := range map[string]struct {
		content string
		want    Format
		guessed bool
	}{
		"view.php":          {page, HTML, true},
		"p.aspx":            {"\ufeff \n<?xml version=\"1.0\"?>\n<!-- saved\nfrom x --> <HTML lang=en>", HTML, true},
		"index.html?id=3":   {page, HTML, false},
		"index.php?f=a.txt": {page, HTML, true},
		"p.html.1":          {page, HTML, false},
		"p.htm.20240101.gz": {gz(t, page), HTML, false},
		"t.cgi":             {"<title>One</title><p>Two", HTML, true},
		"items.jl":          {lines, JSONL, true},
		"sum.jl":            {"function f(x)\n  {\"text\"}\nend\n", Text, false},
		"a.jsonlines":       {`{"other":1}` + "\n", JSONL, false},
		"b.ldjson":          {lines, JSONL, false},
		"c.jsonl.1":         {lines, JSONL, false},
		"d.jsonl.gz.2":      {gz(t, lines), JSONL, false},
		"e.log":             {`{"level":1}` + "\n" + `{"level":2,"texts":"a"}` + "\n", Text, false},
		"f.dump":            {`{"text":"` + strings.Repeat("long ", 9999) + `"}`, JSONL, true},
		"g.dump":            {`{"text":"a"}` + "\nand so on\n", Text, false},
		"h.ipynb":           {"{\n \"text\": [{\"text\": \"a\"}]\n}\n", Text, false},
		"h.dat":             {"[\n {\n  \"id\": 1,\n  \"text\": \"a\"\n }\n]\n", JSONL, true},
		"h2.dat":            {"{\n \"text\": \"a\"\n}\n{\n \"text\": \"b\"\n}\n", JSONL, true},
		"h3.dat":            {"[{\"name\": \"text\"}]", Text, false},
		"frag.php":          {"\n<div class=\"a\">One</div>", HTML, true},
		"frag.tpl":          {"<!-- top --><H2>One</H2>", HTML, true},
		"i.edn":             {"[{:a 1}]", Text, false},
		"j.map":             {`{"names":["text"],"version":3}`, Text, false},
		"k.data2":           {"id,text\n1,a\n", Text, false},
		"l.go":              {"package p\n\nconst page = `" + page + "`\n", Text, false},
		"m.py":              {page, Text, false},
		"n.vue":             {"<header>x</header>\n", Text, false},
		"o.svg":             {"<?xml version=\"1.0\"?><!DOCTYPE svg><svg>", Text, false},
		"notes.2":           {"One.\n", Text, false},
		"pages":             {page, HTML, true},
	} {
		tree(t, map[string]string{name: c.content})
		opts := Options{Meter: &input.Meter{}}
		var got []Format
		for u, err := range Scan(t.Context(), []string{name}, opts, nil) {
			if err == nil && !slices.Contains(got, u.format) {
				got = append(got, u.format)
			}
		}
		guesses := opts.Meter.Guesses()
		if name == "a.jsonlines" { // without a text
			got = []Format{JSONL}
		}
		if !slices.Equal(got, []Format{c.want}) || (len(guesses) == 1) != c.guessed ||
			c.guessed && (guesses[0].Files != 1 || guesses[0].Example != name) {
			t.Errorf("%s is %v, %v, want %s", name, got, guesses, c.want)
		}
	}
}
