package copies

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/corpus"
	"ndd/engine/copies"
	"ndd/engine/corpus/document"
	"ndd/engine/plot"
	"ndd/engine/result"
)

//go:embed page.html
var copiesPageText string

var copiesPageTemplate = plot.NewPage(copiesPageText)

// A copiesPage is what the HTML page of an explanation has: two documents, and what they share.
type copiesPage struct {
	Summary   string
	A, B      *pageSide
	Sides     []*pageSide // left and right
	Shortened bool        // it has not all of both documents
}

// A pageSide is one document.
type pageSide struct {
	ID, Summary string
	Parts       []pagePart
	Rest        string // says what is not shown behind the parts

	room      int // bytes of text that the page may still have
	shown     int // passages
	shortened bool
}

// A pagePart is a passage that is shared, with its number, or text between passages. The middle of
// either may be hidden until it is asked for, or left out.
type pagePart struct {
	Text, Hidden, Rest   string
	HiddenBytes, LeftOut string // how many bytes between Text and Rest are hidden, or not in the page; "" for none
	Side, OtherSide      string // names of the documents
	Number, Other, Color int    // Other is the number of the passage in the other document, 0 for none
	Start, End           int    // bytes
}

const (
	pageColors   = 6
	pageBetween  = 1200     // bytes between passages of which the middle is not shown
	pageContext  = 300      // bytes that are shown on either side of it
	pagePassage  = 12_000   // bytes of a passage of which the middle is not shown
	pageEnds     = 3000     // bytes that are shown on either side of it
	pageHides    = 32 << 10 // bytes that can be hidden in one place; more are left out
	pageBytes    = 2 << 20  // of text a document
	pagePassages = 1000     // a document
)

// writeCopiesPage writes an explanation as an HTML page that loads nothing from anywhere. Of long
// documents it has the beginning, and says so, which shortened tells.
func writeCopiesPage(w io.Writer, e *copies.Explanation, two [2]document.Document) (shortened bool, err error) {
	a := pageSideOf("a", "b", &two[0], e.A, e.CoveredA)
	b := pageSideOf("b", "a", &two[1], e.B, e.CoveredB)
	a.leadTo(b.shown)
	b.leadTo(a.shown)
	for i := range b.Parts { // a passage has the colour of the one that it leads to
		if part := &b.Parts[i]; part.Other > 0 {
			part.Color = (part.Other - 1) % pageColors
		}
	}
	p := copiesPage{explanationSummary(e), &a, &b, []*pageSide{&a, &b}, a.shortened || b.shortened}
	_, err = io.WriteString(w, copiesPageTemplate.Format(&p))
	return p.Shortened, err
}

// leadTo takes the links to passages away that are not shown.
func (s *pageSide) leadTo(shown int) {
	for i := range s.Parts {
		if s.Parts[i].Other > shown {
			s.Parts[i].Other = 0
		}
	}
}

func explanationSummary(e *copies.Explanation) string {
	return fmt.Sprintf("%s shared of %s and %s, by %s", cli.Number(e.Shared, "signature"),
		humanize.Comma(int64(e.SizeA)), humanize.Comma(int64(e.SizeB)), e.Method)
}

func passageSummary(passages []copies.Passage, covered float64) string {
	return fmt.Sprintf("%s shared, %.1f %% of its bytes", cli.Number(len(passages), "passage"), 100*covered)
}

func pageSideOf(name, other string, doc *document.Document, passages []copies.Passage, covered float64) pageSide {
	s := pageSide{ID: doc.ID, Summary: passageSummary(passages, covered), room: pageBytes}
	at := 0
	for i, p := range passages {
		if s.room <= 0 || i == pagePassages {
			s.shortened = true
			s.Rest = fmt.Sprintf("%s more, and all else behind byte %s, left out",
				cli.Number(len(passages)-i, "shared passage"), humanize.Comma(int64(at)))
			return s
		}
		s.Parts = append(s.Parts, s.shorten(doc.Text[at:p.Start], pageBetween, pageContext))
		part := s.shorten(doc.Text[p.Start:p.End], pagePassage, pageEnds)
		part.Number, part.Other, part.Color, part.Start, part.End = i+1, p.Other+1, i%pageColors, p.Start, p.End
		part.Side, part.OtherSide = name, other
		s.Parts = append(s.Parts, part)
		s.shown, at = i+1, p.End
	}
	s.Parts = append(s.Parts, s.shorten(doc.Text[at:], pageBetween, pageContext))
	return s
}

// shorten returns text as a part: of one of more than most bytes the ends, and the middle hidden,
// or left out where it is too long for that.
func (s *pageSide) shorten(text string, most, ends int) pagePart {
	if len(text) <= most {
		s.room -= len(text)
		return pagePart{Text: text}
	}
	from, to := cutBehind(text, ends), len(text)-ends
	for from < to && !utf8.RuneStart(text[to]) {
		to--
	}
	if i := strings.LastIndexByte(text[from:to], ' '); i >= 0 && to-from-i < ends {
		to = from + i + 1
	}
	p := pagePart{Text: text[:from], Rest: text[to:]}
	s.room -= from + len(text) - to
	if to-from > min(pageHides, s.room) {
		p.LeftOut, s.shortened = humanize.Comma(int64(to-from)), true
		return p
	}
	p.Hidden, p.HiddenBytes = text[from:to], humanize.Comma(int64(to-from))
	s.room -= to - from
	return p
}

// cutBehind returns where to cut text behind some bytes: between words, if one ends soon, and never
// in a character.
func cutBehind(text string, at int) int {
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	if i := strings.IndexByte(text[at:], ' '); i >= 0 && i < pageContext && at+i < len(text)-pageContext {
		at += i
	}
	return at
}

// passageGap is how many bytes may lie between parts of one passage: a signature's width of words
// that were not selected.
const passageGap = 100

// explainCopies shows what two documents have in common.
func explainCopies(ctx context.Context, g *cli.Globals, args []string, f *copiesFlags) error {
	if len(args) < 3 {
		return cli.Usagef("--explain needs inputs and two IDs, such as: ndd copies --explain crawl.jsonl ID ID")
	}
	o, err := f.options(g)
	if err != nil {
		return err
	}
	config, err := f.signatures.config(g)
	if err != nil {
		return err
	}
	inputs, a, b := args[:len(args)-2], args[len(args)-2], args[len(args)-1]
	two, err := corpus.TwoDocuments(ctx, g, a, b, inputs, config.Document)
	if err != nil {
		return err
	}
	s, err := copies.NewSigner(o)
	if err != nil {
		return err
	}
	if o.Method == copies.Auto {
		o.Method = s.MethodOfPair(two[0].Text, two[1].Text)
	}
	e, err := s.Explain(o.Method, two[0].Text, two[1].Text, passageGap)
	if err != nil {
		return err
	}
	for i, size := range []int{e.SizeA, e.SizeB} {
		if size == 0 {
			g.Log.Warn(fmt.Sprintf("%s has no signatures by %s; --method names another method", result.Escape(two[i].ID),
				e.Method))
		}
	}
	out, err := g.NewOutput(f.out)
	if err != nil {
		return err
	}
	defer out.Abort()
	if ext := filepath.Ext(f.out); ext != ".html" && ext != ".htm" {
		writeExplanation(out, &e, two)
		return out.Commit()
	}
	shortened, err := writeCopiesPage(out, &e, two)
	if err != nil {
		return err
	}
	if shortened {
		g.Log.Info(f.out + " has not all of these long documents; a file that does not end in .html lists all passages")
	}
	return out.Commit()
}

func writeExplanation(w io.Writer, e *copies.Explanation, two [2]document.Document) {
	fmt.Fprintln(w, explanationSummary(e))
	for i, side := range []struct {
		passages []copies.Passage
		covered  float64
	}{{e.A, e.CoveredA}, {e.B, e.CoveredB}} {
		fmt.Fprintf(w, "%s: %s\n", result.Escape(two[i].ID), passageSummary(side.passages, side.covered))
		for _, p := range side.passages {
			fmt.Fprintf(w, "  %d-%d: %s\n", p.Start, p.End, corpus.Excerpt(two[i].Text[p.Start:p.End]))
		}
	}
}
