package plot

import (
	"fmt"
	"html"
	"reflect"
	"strings"
)

// A Page is a text with places for values, in a part of the language of text/template:
//
//	{{.}} {{.Name}} {{$.Name}}             the value at hand, a field of it, a field of the page's value
//	{{if .Name}} ... {{else}} ... {{end}}  unless the field is false, 0, "" or empty
//	{{range .Name}} ... {{end}}            with each element of a slice
//
// A program that reaches text/template or html/template carries every exported method of every type, 5 MB in ndd, as
// templates call methods by name.
type Page struct {
	nodes  []node
	escape func(string) string
}

// HTML is text that is HTML already.
type HTML string

// A node is some text, or an action in braces.
type node struct {
	text  string
	verb  string   // value, if or range; "" for text
	path  []string // of the field; "$" first for the page's value
	nodes []node   // of if and range
	other []node   // behind else
}

// NewPage reads a page of HTML. Strings are escaped for text and for attributes in quotes: a place for one must be
// in no script, style or address. It panics if text is not a page.
func NewPage(text string) *Page { return newPage(text, html.EscapeString) }

// NewTextPage reads a page that is not HTML, whose values stand as they are.
func NewTextPage(text string) *Page { return newPage(text, func(s string) string { return s }) }

func newPage(text string, escape func(string) string) *Page {
	nodes, end, _ := parse(text)
	if end != "" {
		panic("plot: {{" + end + "}} ends nothing")
	}
	return &Page{nodes, escape}
}

// parse reads up to {{else}} or {{end}}, or to the end of the text, and returns which of them, and the rest.
func parse(text string) (nodes []node, end, rest string) {
	for {
		before, behind, found := strings.Cut(text, "{{")
		action, behind, closed := strings.Cut(behind, "}}")
		if found && strings.HasPrefix(action, "- ") {
			before, action = strings.TrimRight(before, " \t\r\n"), action[2:]
		}
		if nodes = append(nodes, node{text: before}); !found {
			return nodes, "", ""
		}
		words := strings.Fields(action)
		switch {
		case !closed || len(words) == 0:
			panic("plot: {{" + action)
		case words[0] == "else" || words[0] == "end":
			return nodes, words[0], behind
		}
		n := node{verb: "value", path: strings.Split(strings.TrimPrefix(words[len(words)-1], "."), ".")}
		if text = behind; len(words) > 1 {
			n.verb = words[0]
			if n.nodes, end, text = parse(text); end == "else" {
				n.other, end, text = parse(text)
			}
			if end != "end" || n.verb != "if" && n.verb != "range" {
				panic("plot: {{" + action + "}} without its end")
			}
		}
		nodes = append(nodes, n)
	}
}

// Format returns the page with a value, a struct or a pointer to one. It panics if the value does not have a field that
// the page names.
func (p *Page) Format(value any) string {
	var b strings.Builder
	v := reflect.ValueOf(value)
	p.write(&b, p.nodes, v, v)
	return b.String()
}

func (p *Page) write(b *strings.Builder, nodes []node, at, all reflect.Value) {
	for i := range nodes {
		n := &nodes[i]
		if n.verb == "" {
			b.WriteString(n.text)
			continue
		}
		switch v := n.field(at, all); n.verb {
		case "value":
			if v.Type() == reflect.TypeFor[HTML]() {
				b.WriteString(v.String())
			} else {
				b.WriteString(p.escape(fmt.Sprint(v)))
			}
		case "if":
			if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
				p.write(b, n.other, at, all)
			} else {
				p.write(b, n.nodes, at, all)
			}
		case "range":
			for i := range v.Len() {
				p.write(b, n.nodes, v.Index(i), all)
			}
		}
	}
}

// field returns the value that the node names.
func (n *node) field(at, all reflect.Value) reflect.Value {
	for _, name := range n.path {
		if name == "$" {
			at = all
		} else if name != "" {
			at = reflect.Indirect(at).FieldByName(name)
		}
	}
	return at
}
