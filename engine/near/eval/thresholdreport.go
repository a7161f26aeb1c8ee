package eval

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.org/ndd/engine/plot"
)

// WriteText writes a table for each method, with a row for each threshold.
func (r *ThresholdResult) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s with %s.\n", plural(r.Documents, "document"), plural(r.Pairs, "labelled pair"))
	for _, m := range r.Methods {
		heading := fmt.Sprintf("\n%s: %s, default threshold %g", m.title(), plural(m.Pairs, "pair"), m.Default)
		if m.TooFew > 0 {
			heading += fmt.Sprintf("; %s with too few signatures, never found", plural(m.TooFew, "pair"))
		}
		t := textTable{{"threshold", "precision, %", "recall, %", "F1, %", "true positives", "false positives", "false negatives"}}
		for _, x := range m.Thresholds {
			cells := []string{strconv.FormatFloat(x.Threshold, 'f', 2, 64)}
			for _, share := range []Share{x.Precision, x.Recall, x.F1} {
				cells = append(cells, cell("%.1f", 100*float64(share)))
			}
			for _, n := range []int{x.TruePositives, x.FalsePositives, x.FalseNegatives} {
				cells = append(cells, cell("%.0f", float64(n)))
			}
			t = append(t, cells)
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n%s", heading, t)
		}
	}
	return err
}

// title returns the method and the language.
func (m *MethodThresholds) title() string { return strings.TrimSpace(m.Name + " " + m.Lang) }

// Charts draws a figure for each method: precision, recall and F1 over the thresholds, by language.
func (r *ThresholdResult) Charts() map[string]*plot.Chart {
	all := map[string]*plot.Chart{}
	for _, m := range r.Methods {
		c := all[m.Name]
		if c == nil {
			c = &plot.Chart{Title: m.Name + ": precision, recall and F1 by the labels", X: "threshold", Y: "share", Top: 1}
			for _, t := range m.Thresholds {
				c.Labels = append(c.Labels, strconv.FormatFloat(t.Threshold, 'f', 2, 64))
			}
			all[m.Name] = c
		}
		lines := []plot.Series{{Name: m.title() + " precision"}, {Name: m.title() + " recall"}, {Name: m.title() + " F1"}}
		for _, t := range m.Thresholds {
			for i, share := range []Share{t.Precision, t.Recall, t.F1} {
				lines[i].Values = append(lines[i].Values, float64(share))
			}
		}
		c.Series = append(c.Series, lines...)
	}
	return all
}
