package eval

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strings"

	"ndd/engine/plot"
)

//go:embed report.html
var reportPage string

// page is the report: one file, without scripts or outside resources, that reads in light and dark.
var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"isPart":  func(cell string) bool { return strings.HasPrefix(cell, " ") },
	"columns": func() int { return len(shown) + 1 },
}).Parse(reportPage))

// WriteHTML writes the result as one page of HTML with its charts in it. The error is that of w.
func (r *Result) WriteHTML(w io.Writer) error {
	svg := func(c *plot.Lines) template.HTML {
		var b bytes.Buffer
		if c != nil {
			c.WriteTo(&b) // a buffer takes all
		}
		return template.HTML(b.String()) // of package plot, which escapes names
	}
	var tables []textTable
	for i := range r.Methods {
		tables = append(tables, r.table(&r.Methods[i]))
	}
	return page.Execute(w, map[string]any{"Result": r, "Tables": tables, "Signatures": svg(r.SignatureChart()),
		"Recall": svg(r.RecallChart()), "Figure": svg(r.FigureChart())})
}
