package copies

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/corpus/document"
)

//go:embed page.html
var copiesPageText string

var copiesPageTemplate = template.Must(template.New("page").Parse(copiesPageText))

// A copiesPage is what the HTML page of an explanation has: two documents, and what they share.
type copiesPage struct {
	Summary string
	A, B    pageSide
}

// Sides returns the documents, left and right.
func (p *copiesPage) Sides() []*pageSide { return []*pageSide{&p.A, &p.B} }

// A pageSide is one document.
type pageSide struct {
	Name, OtherName, ID, Summary string
	Parts                        []pagePart
}

// A pagePart is a passage that is shared, with its number, or text between passages, of which the middle may be hidden.
type pagePart struct {
	Text, Hidden, Rest   string
	Number, Other, Color int // Other is the number of the passage in the other document, 0 for none
	Start, End           int // bytes
}

// HiddenBytes says how many bytes are hidden.
func (p pagePart) HiddenBytes() string { return humanize.Comma(int64(len(p.Hidden))) }

const (
	pageColors  = 6
	pageHides   = 1200 // bytes between passages of which the middle is hidden
	pageContext = 300  // bytes that are shown on either side of it
)

// writeCopiesPage writes an explanation as an HTML page that loads nothing from anywhere.
func writeCopiesPage(w io.Writer, e *copies.Explanation, two [2]document.Document) error {
	p := copiesPage{Summary: explanationSummary(e)}
	p.A = pageSideOf("a", "b", &two[0], e.A, e.CoveredA)
	p.B = pageSideOf("b", "a", &two[1], e.B, e.CoveredB)
	for i := range p.B.Parts { // a passage has the colour of the one that it leads to
		if part := &p.B.Parts[i]; part.Other > 0 {
			part.Color = (part.Other - 1) % pageColors
		}
	}
	return copiesPageTemplate.Execute(w, &p)
}

func explanationSummary(e *copies.Explanation) string {
	return fmt.Sprintf("%s shared of %s and %s, by %s", cli.Number(e.Shared, "signature"), humanize.Comma(int64(e.SizeA)), humanize.Comma(int64(e.SizeB)), e.Method)
}

func passageSummary(passages []copies.Passage, covered float64) string {
	return fmt.Sprintf("%s shared, %.1f %% of its bytes", cli.Number(len(passages), "passage"), 100*covered)
}

func pageSideOf(name, other string, doc *document.Document, passages []copies.Passage, covered float64) pageSide {
	s := pageSide{Name: name, OtherName: other, ID: doc.ID, Summary: passageSummary(passages, covered)}
	at := 0
	for i, p := range passages {
		s.between(doc.Text[at:p.Start])
		s.Parts = append(s.Parts, pagePart{Text: doc.Text[p.Start:p.End], Number: i + 1, Other: p.Other + 1, Color: i % pageColors, Start: p.Start, End: p.End})
		at = p.End
	}
	s.between(doc.Text[at:])
	return s
}

// between adds text that is not shared.
func (s *pageSide) between(text string) {
	if len(text) <= pageHides {
		s.Parts = append(s.Parts, pagePart{Text: text})
		return
	}
	from, to := pageContext, len(text)-pageContext
	for from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	for from < to && !utf8.RuneStart(text[to]) {
		to--
	}
	if i := strings.IndexByte(text[from:to], ' '); i >= 0 && i < pageContext {
		from += i
	}
	s.Parts = append(s.Parts, pagePart{Text: text[:from], Hidden: text[from:to], Rest: text[to:]})
}
