package document

import (
	"bytes"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pageText takes the text out of a page: what a reader would see if every element were shown.
//
//	<p>One <b>bo</b>ld.</p><script>x</script><ul><li>Two   &amp;<li>three</ul>   ►   One bold.⏎Two &⏎three
//
// Markup, comments, scripts, styles, templates, drawings and what is for browsers without scripts go; block
// elements and br break the line, cells are set apart; white space is one space outside pre.
type pageText struct {
	out       bytes.Buffer
	space     bool // white space is due before the next character
	breakLine bool // and it is a line break
	pre       int  // depth of pre elements

	zones *zones // nil where all is taken
}

// hiddenElement lists the elements whose contents are no text.
var hiddenElement = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true,
	atom.Math: true, atom.Iframe: true, atom.Object: true, atom.Noembed: true, atom.Noframes: true,
	atom.Audio: true, atom.Video: true, atom.Canvas: true, atom.Datalist: true,
}

// blockElement lists the elements that stand on lines of their own.
var blockElement = map[atom.Atom]bool{
	atom.Address: true, atom.Article: true, atom.Aside: true, atom.Blockquote: true, atom.Body: true,
	atom.Br: true, atom.Button: true, atom.Caption: true, atom.Center: true, atom.Dd: true, atom.Details: true,
	atom.Dialog: true, atom.Dir: true, atom.Div: true, atom.Dl: true, atom.Dt: true, atom.Fieldset: true,
	atom.Figcaption: true, atom.Figure: true, atom.Footer: true, atom.Form: true, atom.Frameset: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Head: true,
	atom.Header: true, atom.Hgroup: true, atom.Hr: true, atom.Html: true, atom.Legend: true, atom.Li: true,
	atom.Main: true, atom.Menu: true, atom.Nav: true, atom.Ol: true, atom.Optgroup: true, atom.Option: true,
	atom.P: true, atom.Plaintext: true, atom.Pre: true, atom.Search: true, atom.Section: true,
	atom.Select: true, atom.Summary: true, atom.Table: true, atom.Tbody: true, atom.Textarea: true,
	atom.Tfoot: true, atom.Thead: true, atom.Title: true, atom.Tr: true, atom.Ul: true, atom.Xmp: true,
}

// extract gives the text of a page in UTF-8, all of it or the main part. A page that opens a hidden element and never closes it would
// lose all its rest; such an element is then taken as shown, in another pass.
func (p *pageText) extract(page []byte, how Extract) string {
	switch {
	case how == ExtractAll || how == "":
		p.zones = nil
	case p.zones == nil:
		p.zones = &zones{}
	}
	var shown []atom.Atom
	for len(shown) < 4 {
		open := p.pass(page, shown)
		if open == 0 {
			break
		}
		shown = append(shown, open)
	}
	text := bytes.TrimRight(p.out.Bytes(), " \n")
	if p.zones != nil {
		least := 1
		if how == ExtractAuto {
			least = mainBytesLeast
		}
		text = p.zones.mainText(text, least)
	}
	return string(text)
}

// pass writes the text and returns the hidden element that was still open at the end, or 0. Those in shown
// are not hidden.
func (p *pageText) pass(page []byte, shown []atom.Atom) atom.Atom {
	p.out.Reset()
	p.out.Grow(len(page) / 4)
	p.space, p.breakLine, p.pre = false, false, 0
	if p.zones != nil {
		p.zones.reset()
	}
	z := html.NewTokenizer(bytes.NewReader(page))
	var inside atom.Atom // the outermost hidden element
	depth := 0
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken: // the end: a reader over bytes has no other error
			if inside == atom.Script || inside == atom.Style {
				return 0 // browsers lose the rest as well
			}
			return inside
		case html.TextToken:
			if depth == 0 {
				p.text(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttributes := z.TagName()
			a := atom.Lookup(name)
			if depth > 0 {
				if inside == atom.Svg || inside == atom.Math {
					if blockElement[a] && a != atom.Title { // the standard: such an element ends a drawing
						inside, depth = 0, 0
					}
				}
				if depth > 0 {
					if a == inside && kind == html.StartTagToken {
						depth++
					}
					continue
				}
			}
			if hiddenElement[a] && !slices.Contains(shown, a) {
				if kind == html.StartTagToken || a == atom.Script || a == atom.Style {
					inside, depth = a, 1
				}
				continue
			}
			p.element(a, kind == html.StartTagToken)
			if p.zones != nil && kind == html.StartTagToken {
				p.zones.start(a, z, hasAttributes)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			if depth > 0 {
				if a == inside {
					if depth--; depth == 0 {
						inside = 0
					}
				}
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

// element notes the white space that an element stands for.
func (p *pageText) element(a atom.Atom, opens bool) {
	switch {
	case blockElement[a]:
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
				p.zones.mark(p.out.Len()) // with the white space before it
			}
			p.flushSpace()
			p.out.Write(s[:i])
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
	if p.space && p.out.Len() > 0 {
		if p.breakLine {
			p.out.WriteByte('\n')
		} else {
			p.out.WriteByte(' ')
		}
	}
	p.space, p.breakLine = false, false
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
