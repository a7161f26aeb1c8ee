package text

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Extraction selects the text of a page.
type Extraction string

// The ways of extraction.
const (
	ExtractAll  Extraction = "all"  // the text that a reader would see if every element were shown
	ExtractMain Extraction = "main" // the main text: without navigation, sidebars, headers and footers
	ExtractAuto Extraction = "auto" // the main text, or all if the main text is hardly any
)

// ParseExtraction reads the name of a way of extraction; "" is all.
func ParseExtraction(name string) (Extraction, error) {
	switch e := Extraction(name); e {
	case "":
		return ExtractAll, nil
	case ExtractAll, ExtractMain, ExtractAuto:
		return e, nil
	}
	return "", fmt.Errorf("%q: must be main, all or auto", name)
}

// mainWordsMin is the minimum number of different words of the main part for ExtractAuto. A character of a script
// without spaces counts as a word. If a page has fewer, its whole text is taken. With 12, all of 3,132 pages had a
// fingerprint if their whole texts had one; with 10, ten pages had none. With 20, 1.6 % fewer of 1,111 pairs of
// versions are found.
const mainWordsMin = 12

// hasWords reports whether a text has at least minWords different words.
func hasWords(text []byte, minWords int) bool {
	seen := map[string]bool{}
	for len(text) > 0 && len(seen) < minWords {
		r, size := utf8.DecodeRune(text)
		n := 0
		for n < len(text) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) {
			n += size
			if r >= 0x3040 && r <= 0x9fff || r >= 0x0e00 && r <= 0x0eff {
				break
			}
			r, size = utf8.DecodeRune(text[n:])
		}
		if n > 0 {
			seen[string(bytes.ToLower(text[:n]))] = true
		}
		text = text[max(n, min(size, len(text))):]
	}
	return len(seen) >= minWords
}

// A zone is the part of a page that a piece of text belongs to.
type zone uint8

const (
	zoneMain  zone = 1 << iota // text of the part that the page marks as main
	zoneAside                  // text of navigation, a sidebar, a header or footer
	zoneLink                   // text of a link
)

// zones follow the parts of a page while its text is taken, and remember the offsets in the text at which the zone
// changes. Each tag takes constant time, for any number of open regions.
//
//	<nav><a>x</a></nav> <main>text <aside>more</aside></main>   ->   x: aside, link; text: main; more: main, aside
type zones struct {
	regions    []region
	names      [len(regionNames)]elements
	openCounts [zoneLink]int // number of open regions of each zone
	link       bool
	spans      []span
}

// A region is an open element that makes a zone. It ends when all elements of its name that began in it have ended, and
// then one more. A region is small, because a page may open one with every six bytes.
type region struct {
	name  uint8
	zone  zone
	depth int32 // number of elements of its name around it
	outer int32 // number of the region of its name around it
}

// elements counts the open elements of one name.
type elements struct {
	depth int32 // number of open elements since the outermost region of the name began
	inner int32 // number of the innermost region of the name, from 1; 0 if there is none
}

// A span is text of one zone, up to the next span.
type span struct {
	start uint32 // byte of the text, which has less than 4 GiB
	zone  zone
}

// innermost returns the zone of the open elements.
func (z *zones) innermost() (in zone) {
	for i, n := range z.openCounts {
		if n > 0 {
			in |= zone(i)
		}
	}
	if z.link {
		in |= zoneLink
	}
	return in
}

// mark notes that text begins at a byte of the output.
func (z *zones) mark(offset int) {
	in := z.innermost()
	if n := len(z.spans); n == 0 || z.spans[n-1].zone != in {
		z.spans = append(z.spans, span{uint32(offset), in})
	}
}

// start notes the start of an element that is not void.
func (z *zones) start(a atom.Atom, t *html.Tokenizer) {
	if a == atom.A {
		z.link = true
		return
	}
	name, kind := slices.Index(regionNames[:], a), zone(0)
	switch {
	case name < 0:
		return
	case name < namesMain:
		kind = zoneMain
	case a == atom.Header && z.openCounts[zoneMain] > 0: // the header of an article is its title
	case name < namesAside:
		kind = zoneAside
	default:
		kind = zoneOfAttributes(t)
	}
	all := &z.names[name]
	if kind != 0 {
		z.regions = append(z.regions, region{uint8(name), kind, all.depth, all.inner})
		z.openCounts[kind]++
		all.inner = int32(len(z.regions))
	}
	all.depth++
}

// end notes the end of an element.
func (z *zones) end(a atom.Atom) {
	if a == atom.A {
		z.link = false
		return
	}
	name := slices.Index(regionNames[:], a)
	if name < 0 || z.names[name].inner == 0 {
		return
	}
	all := &z.names[name]
	all.depth--
	last := all.inner - 1
	if all.depth > z.regions[last].depth {
		return
	}
	for _, r := range slices.Backward(z.regions[last:]) { // including the elements in it that were not closed
		z.names[r.name].inner = r.outer
		z.openCounts[r.zone]--
	}
	z.regions = z.regions[:last]
}

// regionNames are the elements that may be regions. The first namesMain are main, and the next ones up to namesAside
// are aside. The attributes of the others decide.
var regionNames = [...]atom.Atom{atom.Main, atom.Article,
	atom.Nav, atom.Aside, atom.Footer, atom.Header, atom.Dialog, atom.Menu,
	atom.Div, atom.Section, atom.Ul, atom.Ol, atom.Td, atom.Table, atom.Form, atom.P}

const (
	namesMain  = 2
	namesAside = 8
)

// asideNames are classes and ids of elements outside the main text, in lower case.
var asideNames = []string{"breadcrumb", "breadcrumbs", "comments", "cookie", "copyright", "footer", "header",
	"headerbar", "menu", "nav", "navbar", "navigation",
	"pagination", "related", "share", "sidebar", "sidenav", "sphinxsidebar", "tags", "toc", "toolbar"}

// zoneOfAttributes returns the zone that an element makes by its role, class or id.
func zoneOfAttributes(t *html.Tokenizer) (in zone) {
	for more := true; more; {
		var key, value []byte
		key, value, more = t.TagAttr()
		switch string(key) {
		case "role":
			switch string(value) {
			case "main", "article":
				in |= zoneMain
			case "navigation", "banner", "contentinfo", "search", "complementary":
				in |= zoneAside
			}
		case "itemprop":
			if string(value) == "articleBody" {
				in |= zoneMain
			}
		case "class", "id":
			for name := range bytes.FieldsSeq(value) {
				if slices.Contains(asideNames, strings.ToLower(string(name))) {
					in |= zoneAside
				}
			}
		}
	}
	if in&zoneMain != 0 {
		return zoneMain
	}
	return in
}

// mainText returns the part of a text that the page marks as main. If that has too few words, it returns the lines that
// are not aside and not mostly links. If these have too few words for ExtractAuto, or none, it returns the whole text.
func (z *zones) mainText(text []byte, extraction Extraction) []byte {
	var marked []byte
	for in, part := range z.parts(text) {
		if in&zoneMain != 0 && in&zoneAside == 0 {
			marked = append(marked, part...)
		}
	}
	if marked = bytes.TrimSpace(marked); hasWords(marked, mainWordsMin) {
		return marked
	}
	minWords := mainWordsMin
	if extraction == ExtractMain {
		minWords = 1
	}
	if lines := z.lines(text); hasWords(lines, minWords) {
		return lines
	}
	return text
}

// parts yields the pieces of a text with their zones.
func (z *zones) parts(text []byte) iter.Seq2[zone, []byte] {
	return func(yield func(zone, []byte) bool) {
		for i, s := range z.spans {
			end := len(text)
			if i+1 < len(z.spans) {
				end = min(end, int(z.spans[i+1].start))
			}
			if int(s.start) < end && !yield(s.zone, text[s.start:end]) {
				return
			}
		}
	}
}

// linkShare limits links in a line of the main text to 1/linkShare of it.
const linkShare = 3

// lines returns the lines of the text that are not aside and not mostly links.
func (z *zones) lines(text []byte) (result []byte) {
	from, to, links, aside := 0, 0, 0, 0
	end := func() {
		if links*linkShare <= to-from && aside*2 <= to-from {
			result = append(result, text[from:to]...)
		}
		from, links, aside = to, 0, 0
	}
	for in, part := range z.parts(text) {
		for piece := range bytes.Lines(part) {
			to += len(piece)
			if in&zoneLink != 0 {
				links += len(piece)
			}
			if in&zoneAside != 0 {
				aside += len(piece)
			}
			if piece[len(piece)-1] == '\n' {
				end()
			}
		}
	}
	end()
	return bytes.TrimSpace(result)
}
