package cli

import (
	"bufio"
	_ "embed"
	"html"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/plot"
)

//go:embed page.html
var pageHead string

// titleMax is the maximum number of characters of a title that names the inputs.
const titleMax = 120

// markedBytes is the maximum number of bytes of a text that a page shows.
const markedBytes = 2000

// A PageHead has the data of the head of a page. The data of a page embeds it.
type PageHead struct{ Title, Date string }

// NewPageHead returns the head of a page. The title has a subject and the names of the inputs.
func NewPageHead(subject string, inputs []string) PageHead {
	names := []rune(strings.Join(inputs, ", "))
	if len(names) > titleMax {
		names = append(names[:titleMax-1], '…')
	}
	return PageHead{subject + " in " + string(names), time.Now().Format("2006-01-02 15:04")}
}

// WritePage writes index.html. text is the page without its head.
func WritePage(to Folder, text string, data any) error {
	return to.Write("index.html", func(w *bufio.Writer) error {
		_, err := w.WriteString(plot.NewPage(pageHead + text).Format(data))
		return err
	})
}

// WriteFigures writes figures by the names of their files, and publishes the folder.
func WriteFigures(to Folder, figures map[string]io.WriterTo) error {
	for name, figure := range figures {
		if err := to.Write(name, func(w *bufio.Writer) error { _, err := figure.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	return to.Commit()
}

// A PageSide is one of two documents side by side.
type PageSide struct {
	ID    string
	Place string // "" if it equals the ID
	Text  plot.HTML
}

// NewPageSide returns a document for a page, with marked ranges of its text. Row 0 means that the file is one document.
func NewPageSide(id, file string, row int64, text string, marks []format.Range) PageSide {
	return PageSide{id, OtherPlace(id, file, row), markRanges(text, marks)}
}

// OtherPlace returns the place of a document, or "" if it equals its ID.
func OtherPlace(id, file string, row int64) string {
	if place := input.Place(file, row); place != id {
		return place
	}
	return ""
}

// markRanges returns a part of a text as HTML, with marked ranges. Ranges ascend. The part begins a little before the
// first range.
func markRanges(text string, marks []format.Range) plot.HTML {
	from := 0
	if len(marks) > 0 && marks[0].From > markedBytes/2 {
		from = int(marks[0].From) - markedBytes/4
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	to := min(len(text), from+markedBytes)
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	var out strings.Builder
	if from > 0 {
		out.WriteString(`<span class="cut">…</span>`)
	}
	previous := from
	for _, m := range marks {
		start, end := min(max(int(m.From), previous), to), min(max(int(m.To), previous), to)
		out.WriteString(html.EscapeString(text[previous:start]))
		if start < end {
			out.WriteString("<mark>" + html.EscapeString(text[start:end]) + "</mark>")
		}
		previous = end
	}
	out.WriteString(html.EscapeString(text[previous:to]))
	if to < len(text) {
		out.WriteString(`<span class="cut">…</span>`)
	}
	return plot.HTML(out.String())
}
