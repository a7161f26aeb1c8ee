package copies

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ndd/engine/copies"
	"ndd/engine/corpus/document"
)

// explained returns a document in which n passages of some bytes lie apart by other bytes, and
// these passages, which lead to their like.
func explained(n, passage, between int) (document.Document, []copies.Passage) {
	var text strings.Builder
	var all []copies.Passage
	for i := range n {
		text.WriteString(strings.Repeat("other é ", between/9+1))
		start := text.Len()
		text.WriteString(strings.Repeat("shared ü ", passage/10+1))
		all = append(all, copies.Passage{Start: start, End: text.Len(), Other: i})
	}
	return document.Document{ID: "id", Text: text.String()}, all
}

// TestPageIsBounded: however long documents and passages are, and however many, the page is of a
// few megabytes, says what it leaves out, and leads to passages that are on it.
func TestPageIsBounded(t *testing.T) {
	for _, c := range []struct {
		name                string
		n, passage, between int
		shortened           bool
		want                []string
	}{
		{"short", 3, 100, 100, false, []string{`<a href="#a3">3</a>`}},
		{"some way between", 3, 100, 9000, false, []string{"[show 8,", "bytes that are not shared]"}},
		{"far between", 3, 100, 1 << 20, true, []string{"bytes that are not shared, left out]"}},
		{"long passages", 3, 1 << 20, 100, true, []string{"more bytes, left out]"}},
		{"many", 3000, 100, 100, true, []string{"[2,000 shared passages more, and all else behind byte "}},
		{"many and long", 3000, 9000, 9000, true, []string{"shared passages more, and all else behind byte "}},
	} {
		doc, passages := explained(c.n, c.passage, c.between)
		other := document.Document{ID: `<i>"short`, Text: "shared ü and <i>more</i>"}
		e := copies.Explanation{Method: copies.Winnow, A: passages, B: []copies.Passage{{Start: 0, End: 9, Other: c.n - 1}}}
		if c.name == "short" {
			e.B, other = passages, doc
		}
		var page strings.Builder
		shortened, err := writeCopiesPage(&page, &e, [2]document.Document{doc, other})
		if err != nil || shortened != c.shortened || page.Len() > 3<<20 {
			t.Errorf("%s: shortened %v, %d bytes, %v", c.name, shortened, page.Len(), err)
		}
		if got := strings.Contains(page.String(), "not all of their text is on this page"); got != c.shortened {
			t.Errorf("%s: says that it is shortened: %v", c.name, got)
		}
		for _, want := range c.want {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s: without %q", c.name, want)
			}
		}
		if strings.Contains(page.String(), "<i>") || strings.Contains(page.String(), `"short`) {
			t.Errorf("%s: a document's text is markup", c.name)
		}
		there := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([ab]\d+)"`).FindAllStringSubmatch(page.String(), -1) {
			there[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page.String(), -1) {
			if !there[m[1]] {
				t.Errorf("%s: a link to %s, which is not there", c.name, m[1])
			}
		}
	}
}

// TestShortenLosesNothing: what is shown, hidden and left out of a text is all of it, in whole
// characters.
func TestShortenLosesNothing(t *testing.T) {
	for _, text := range []string{strings.Repeat("äöü ", 5000), strings.Repeat("中文", 9000),
		strings.Repeat("x", 20000), strings.Repeat("a b ", 400)} {
		for _, room := range []int{pageBytes, 2000} {
			s := pageSide{room: room}
			p, leftOut := s.shorten(text, pageBetween, pageContext), 0
			fmt.Sscan(strings.ReplaceAll(p.LeftOut, ",", ""), &leftOut)
			if len(p.Text)+len(p.Hidden)+len(p.Rest)+leftOut != len(text) || !strings.HasPrefix(text,
				p.Text+p.Hidden) || !strings.HasSuffix(text, p.Rest) {
				t.Errorf("%.20q: %d, %d, %d, %d bytes of %d", text, len(p.Text), len(p.Hidden), len(p.Rest), leftOut, len(text))
			}
			for _, part := range []string{p.Text, p.Hidden, p.Rest} {
				if part != strings.ToValidUTF8(part, "") {
					t.Errorf("%.20q: cut within a character", text)
				}
			}
		}
	}
}
