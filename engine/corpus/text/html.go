package text

import (
	"bytes"
	"context"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A pageText extracts the text of a page: everything that a reader would see if every element were shown.
//
//	<p>One <b>bo</b>ld.</p><script>x</script><ul><li>Two   &amp;<li>three</ul>   ►   One bold.⏎Two &⏎three
//
// Markup, comments, scripts, styles, templates, drawings and noscript elements are left out. Block elements and br
// break the line, and cells are separated by a space. Outside pre, white space becomes one space.
type pageText struct {
	out       []byte
	space     bool // white space is due before the next character
	breakLine bool // the separator is a line break
	pre       int  // depth of pre elements
	pageBytes int  // bytes of the page: hardly any text is longer

	zones *zones // nil if all text is taken
}

// isHidden reports whether an element's content is no text.
func isHidden(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object,
		atom.Noembed, atom.Noframes, atom.Audio, atom.Video, atom.Canvas, atom.Datalist:
		return true
	}
	return false
}

// isBlock reports whether an element begins and ends a line.
func isBlock(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Br, atom.Button, atom.Caption,
		atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset,
		atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Frameset, atom.H1, atom.H2, atom.H3, atom.H4,
		atom.H5, atom.H6, atom.Head, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main,
		atom.Menu, atom.Nav, atom.Ol, atom.Optgroup, atom.Option, atom.P, atom.Plaintext, atom.Pre, atom.Search,
		atom.Section, atom.Select, atom.Summary, atom.Table, atom.Tbody, atom.Textarea, atom.Tfoot, atom.Thead,
		atom.Title, atom.Tr, atom.Ul, atom.Xmp:
		return true
	}
	return false
}

// extract returns the text of a page in UTF-8, all of it or the main part. If a page opens a hidden element and never
// closes it, the rest of the page would be lost. Another pass then treats that element as shown. The end of ctx is the
// only error.
func (p *pageText) extract(ctx context.Context, page []byte, extraction Extraction) (string, error) {
	switch {
	case extraction == ExtractAll || extraction == "":
		p.zones = nil
	case p.zones == nil:
		p.zones = &zones{}
	}
	var shownTags []atom.Atom
	for len(shownTags) < 4 {
		open, err := p.pass(ctx, page, shownTags)
		if err != nil {
			return "", err
		}
		if open == 0 {
			break
		}
		shownTags = append(shownTags, open)
	}
	text := bytes.TrimRight(p.out, " \n")
	if p.zones != nil {
		text = p.zones.mainText(text, extraction)
	}
	return string(text), nil
}

// pass writes the text. It returns the hidden element that is open at the end of the page, or 0. The elements in
// shownTags are not hidden. The end of ctx is the only error.
func (p *pageText) pass(ctx context.Context, page []byte, shownTags []atom.Atom) (atom.Atom, error) {
	// Begin with no text.
	p.out = slices.Grow(p.out[:0], len(page)/4)
	p.space, p.breakLine, p.pre, p.pageBytes = false, false, 0, len(page)
	if p.zones != nil {
		*p.zones = zones{regions: p.zones.regions[:0], spans: p.zones.spans[:0]}
	}
	z := newTags(ctx, page)
	var h hiddenElement
	for {
		// Follow the tags, and write the text that is not hidden.
		switch kind := z.next(); kind {
		case html.ErrorToken:
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			if h.name == atom.Script || h.name == atom.Style {
				return 0, nil // browsers lose the rest as well
			}
			return h.name, nil
		case html.TextToken:
			if h.depth == 0 {
				p.text(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			a, opens := z.element(), kind == html.StartTagToken
			if h.start(a, opens, shownTags) {
				continue
			}
			p.element(a, opens)
			if p.zones != nil && opens {
				p.zones.start(a, z.Tokenizer)
			}
		case html.EndTagToken:
			a := z.element()
			if h.end(a) {
				continue
			}
			if a == atom.Pre && p.pre > 0 {
				p.pre--
			}
			p.element(a, false)
			if p.zones != nil {
				p.zones.end(a)
			}
		}
	}
}

// A hiddenElement is the hidden element that the current place of a page is in.
type hiddenElement struct {
	name  atom.Atom // name of the outermost hidden element; 0 if there is none
	depth int       // number of open elements of that name
}

// start takes a start tag and reports whether it is hidden. Elements in shownTags hide nothing.
func (h *hiddenElement) start(a atom.Atom, opens bool, shownTags []atom.Atom) bool {
	if (h.name == atom.Svg || h.name == atom.Math) && isBlock(a) && a != atom.Title {
		*h = hiddenElement{} // the standard: such an element ends a drawing
	}
	if h.depth > 0 {
		if a == h.name && opens {
			h.depth++
		}
		return true
	}
	if !isHidden(a) || slices.Contains(shownTags, a) {
		return false
	}
	if opens || a == atom.Script || a == atom.Style {
		*h = hiddenElement{a, 1}
	}
	return true
}

// end takes an end tag and reports whether it is hidden.
func (h *hiddenElement) end(a atom.Atom) bool {
	if h.depth == 0 {
		return false
	}
	if a == h.name {
		if h.depth--; h.depth == 0 {
			h.name = 0
		}
	}
	return true
}

// element notes the white space that an element makes.
func (p *pageText) element(a atom.Atom, opens bool) {
	switch {
	case isBlock(a):
		p.space, p.breakLine = true, true
		if a == atom.Pre && opens {
			p.pre++
		}
	case a == atom.Td, a == atom.Th, a == atom.Img, a == atom.Input, a == atom.Rt, a == atom.Rp:
		p.space = true
	}
}

// text writes text with its white space folded.
func (p *pageText) text(s []byte) {
	for len(s) > 0 {
		i := 0
		for i < len(s) && !isSpace(s[i]) {
			i++
		}
		if i > 0 {
			if p.zones != nil {
				p.zones.mark(len(p.out)) // the mark includes the white space before the text
			}
			p.flushSpace()
			if len(p.out)+i > cap(p.out) {
				p.out = slices.Grow(p.out, max(p.pageBytes-len(p.out), i)) // allocate at once, because growing would double the memory
			}
			p.out = append(p.out, s[:i]...)
			s = s[i:]
			continue
		}
		for ; i < len(s) && isSpace(s[i]); i++ {
			p.space = true
			if p.pre > 0 && s[i] == '\n' {
				p.breakLine = true
			}
		}
		s = s[i:]
	}
}

func (p *pageText) flushSpace() {
	if p.space && len(p.out) > 0 {
		if p.breakLine {
			p.out = append(p.out, '\n')
		} else {
			p.out = append(p.out, ' ')
		}
	}
	p.space, p.breakLine = false, false
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
