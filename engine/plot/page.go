package plot

import (
	"fmt"
	"html"
	"reflect"
	"strings"
)

// A Page is a text with placeholders for values, in a part of the language of text/template:
//
//	{{.}} {{.Name}} {{$.Name}}             the current value, its field, a field of the page's value
//	{{if .Name}} ... {{else}} ... {{end}}  unless the field is false, 0, "" or empty
//	{{range .Name}} ... {{end}}            repeated with each element of a slice
//
// A program that uses text/template or html/template contains every exported method of every type, because templates
// call methods by name. That is 5 MB in ndd.
type Page struct {
	nodes  []node
	escape func(string) string
}

// HTML is text that is already HTML.
type HTML string

// A node is a text, or an action in braces.
type node struct {
	text       string
	verb       string   // value, if or range; "" for a text
	path       []string // field names; "$" first for the page's value
	nodes      []node   // content of if and range
	otherNodes []node   // content after else
}

// NewPage parses a page of HTML. Strings are escaped for text and for quoted attributes, so a placeholder for a
// string must not be in a script, a style or an address. NewPage panics if text is not a valid page.
func NewPage(text string) *Page { return newPage(text, html.EscapeString) }

// NewTextPage parses a page that is not HTML. Its values are not escaped.
func NewTextPage(text string) *Page { return newPage(text, func(s string) string { return s }) }

func newPage(text string, escape func(string) string) *Page {
	nodes, end, _ := parse(text)
	if end != "" {
		panic("plot: {{" + end + "}} ends nothing")
	}
	return &Page{nodes, escape}
}

// parse reads up to {{else}} or {{end}}, or to the end of the text. It returns the word in braces and the remaining
// text.
func parse(text string) (nodes []node, end, remaining string) {
	for {
		prefix, suffix, found := strings.Cut(text, "{{")
		action, suffix, closed := strings.Cut(suffix, "}}")
		if found && strings.HasPrefix(action, "- ") {
			prefix, action = strings.TrimRight(prefix, " \t\r\n"), action[2:]
		}
		if nodes = append(nodes, node{text: prefix}); !found {
			return nodes, "", ""
		}
		words := strings.Fields(action)
		switch {
		case !closed || len(words) == 0:
			panic("plot: {{" + action)
		case words[0] == "else" || words[0] == "end":
			return nodes, words[0], suffix
		}
		n := node{verb: "value", path: strings.Split(strings.TrimPrefix(words[len(words)-1], "."), ".")}
		if text = suffix; len(words) > 1 {
			n.verb = words[0]
			if n.nodes, end, text = parse(text); end == "else" {
				n.otherNodes, end, text = parse(text)
			}
			if end != "end" || n.verb != "if" && n.verb != "range" {
				panic("plot: {{" + action + "}} without its end")
			}
		}
		nodes = append(nodes, n)
	}
}

// Format returns the page with a value, which is a struct or a pointer to one. It panics if the value lacks a field
// that the page names.
func (p *Page) Format(value any) string {
	var b strings.Builder
	v := reflect.ValueOf(value)
	p.write(&b, p.nodes, v, v)
	return b.String()
}

func (p *Page) write(b *strings.Builder, nodes []node, current, root reflect.Value) {
	for i := range nodes {
		n := &nodes[i]
		if n.verb == "" {
			b.WriteString(n.text)
			continue
		}
		switch v := n.field(current, root); n.verb {
		case "value":
			if v.Type() == reflect.TypeFor[HTML]() {
				b.WriteString(v.String())
			} else {
				b.WriteString(p.escape(fmt.Sprint(v)))
			}
		case "if":
			if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
				p.write(b, n.otherNodes, current, root)
			} else {
				p.write(b, n.nodes, current, root)
			}
		case "range":
			for i := range v.Len() {
				p.write(b, n.nodes, v.Index(i), root)
			}
		}
	}
}

// field returns the value of the field that the node names.
func (n *node) field(current, root reflect.Value) reflect.Value {
	for _, name := range n.path {
		if name == "$" {
			current = root
		} else if name != "" {
			current = reflect.Indirect(current).FieldByName(name)
		}
	}
	return current
}
