package eval

import (
	_ "embed"
	"io"
	"strings"

	"example.org/ndd/engine/plot"
)

//go:embed report.html
var reportPage string

// page is the report: one file without scripts or outside resources, for light and dark screens.
var page = plot.NewPage(reportPage)

// A pageRow is a row of the table of a method.
type pageRow struct {
	Name  string
	First bool // the cells are the distances
	Part  bool // the row belongs to the one above
	Cells []string
}

// WriteHTML writes the result as one page of HTML with its charts. It returns the error of w.
func (r *Result) WriteHTML(w io.Writer) error {
	type method struct {
		*MethodResult
		Rows []pageRow
	}
	p := struct {
		*Result
		Recall, Labels, Jaccard plot.HTML
		Tables                  []method
	}{Result: r, Recall: r.RecallChart().HTML(), Jaccard: r.JaccardChart().HTML()}
	if r.Copies == 0 {
		p.Labels = r.LabelChart().HTML()
	}
	for i := range r.Methods {
		m := method{MethodResult: &r.Methods[i]}
		for at, cells := range r.table(m.MethodResult) {
			m.Rows = append(m.Rows, pageRow{cells[0], at == 0, strings.HasPrefix(cells[0], " "), cells[1:]})
		}
		p.Tables = append(p.Tables, m)
	}
	_, err := io.WriteString(w, page.Format(p))
	return err
}
