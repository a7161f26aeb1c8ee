package eval

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"ndd/engine/plot"
)

// shown are the distances that tables of text have a column for.
var shown = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}

// WriteText writes the result as tables for a terminal.
func (r *Result) WriteText(w io.Writer) error {
	what := plural(r.Pairs, "labelled pair")
	if r.Copies > 0 {
		what = plural(r.Copies, "edited copy")
	}
	_, err := fmt.Fprintf(w, "%s with %s, %s of text in all.\n", plural(r.Documents, "document"), what,
		humanize.IBytes(uint64(r.TextBytes)))
	for i := range r.Methods {
		if m := &r.Methods[i]; err == nil {
			_, err = fmt.Fprintf(w, "\n%s\n%s%s", m.heading(r.TextBytes), r.table(m).String(), m.explanation())
		}
	}
	return err
}

// explanation says why figures are missing, if there were no pairs to count.
func (m *MethodResult) explanation() string {
	switch {
	case m.Candidates[MaxK] == 0:
		return fmt.Sprintf("No two documents are within %d bits: there is nothing to count for precision.\n", MaxK)
	case m.Precision.Share[MaxK] == 0:
		return "No reported pair has a Jaccard of at least 0.5: either the documents have no near-duplicates, or the recipe does " +
			"not fit them.\n"
	case math.IsNaN(m.Figure.Recall[MaxK]):
		return "No pair within 10 bits has a Jaccard of at least 0.8: recall by measured Jaccard has nothing to count.\n"
	}
	return ""
}

// table returns the table of a method, with a header.
func (r *Result) table(m *MethodResult) (t textTable) {
	t.row("within k bits", func(k int) string { return fmt.Sprint(k) })
	if r.Copies > 0 {
		for i := range m.Recall {
			r := &m.Recall[i]
			t.row(fmt.Sprintf("1 word in %s edited, %s: found, %%", strings.TrimPrefix(r.Kind, "edited 1 in "),
				plural(r.Pairs, "copy")), percent(&r.PerPair))
		}
	} else {
		for j := range m.Recall {
			m.Recall[j].addTo(&t)
		}
		m.ByLabel.addTo(&t)
	}
	m.addTo(&t)
	return t
}

func (m *MethodResult) heading(textBytes int) string {
	s := fmt.Sprintf("%s: %.0f MB/s on all threads", m.Name, float64(textBytes)/1e6/max(m.Seconds, 1e-9))
	if m.Verify > 0 {
		s += fmt.Sprintf("; pairs verified: Jaccard at least %g", m.Verify)
	}
	if m.TooShort > 0 {
		s += fmt.Sprintf("; %s too short for a fingerprint", plural(m.TooShort, "document"))
	}
	return s
}

// A textTable has rows of equal length: a name and cells.
type textTable [][]string

func (t *textTable) row(name string, cell func(k int) string) {
	cells := []string{name}
	for _, k := range shown {
		cells = append(cells, cell(k))
	}
	*t = append(*t, cells)
}

// String aligns names on the left and cells on the right.
func (t textTable) String() string {
	widths := make([]int, len(t[0]))
	for _, cells := range t {
		for i, c := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, cells := range t {
		fmt.Fprintf(&b, "%-*s", widths[0], cells[0])
		for i, c := range cells[1:] {
			fmt.Fprintf(&b, "  %*s", widths[i+1], c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// shows returns the formatted cells of a scaled curve.
func shows(format string, scale float64, c *Curve) func(k int) string {
	return func(k int) string { return cell(format, scale*c[k]) }
}

// cell formats a value. NaN is a dash.
func cell(format string, value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return fmt.Sprintf(format, value)
}

func percent(c *Curve) func(k int) string { return shows("%.1f", 100, c) }

func number(c *Counts) func(k int) string {
	return func(k int) string { return humanize.Comma(int64(c[k])) }
}

// Name returns what a row's pairs are: language, label and band.
func (r *Recall) Name() string {
	return strings.Join(strings.Fields(r.Lang+" "+r.Kind+" "+r.Band), " ")
}

func plural(n int, what string) string {
	if stem, ok := strings.CutSuffix(what, "y"); ok && n != 1 {
		what = stem + "ies"
	} else if n != 1 {
		what += "s"
	}
	return humanize.Comma(int64(n)) + " " + what
}

func (r *Recall) addTo(t *textTable) {
	if r.Kind == Different {
		t.row(fmt.Sprintf("%s: false, of %s", r.Name(), plural(r.Pairs, "pair")), number(&r.Found))
		return
	}
	t.row(fmt.Sprintf("%s: found of %s, %%", r.Name(), plural(r.Pairs, "pair")), percent(&r.PerPair))
	if r.Groups < r.Pairs {
		t.row("  mean of "+plural(r.Groups, "group"), percent(&r.PerGroup))
	}
	if r.Identical > 0 && r.Identical < r.Pairs {
		t.row(fmt.Sprintf("  without %s identical, mean of groups", humanize.Comma(int64(r.Identical))),
			percent(&r.PerGroupEdited))
	}
}

func (b *ByLabel) addTo(t *textTable) {
	t.row("by the labels: true positives", number(&b.TruePositives))
	t.row("  false positives", number(&b.FalsePositives))
	t.row("  false negatives", number(&b.FalseNegatives))
	t.row("  precision, %", percent(&b.Precision))
	t.row("  recall, %", percent(&b.Recall))
	t.row("  F1, %", percent(&b.F1))
}

// addTo adds what does not depend on labels.
func (m *MethodResult) addTo(t *textTable) {
	t.row("candidates: pairs of documents", number(&m.Candidates))
	t.row("reported pairs", number(&m.Precision.Reported))
	t.row("  precision: Jaccard at least 0.5, %", shows("%.2f", 100, &m.Precision.Share))
	t.row("by measured Jaccard, equal samples: precision, %", percent(&m.Figure.Precision))
	t.row("by measured Jaccard, equal samples: recall, %", percent(&m.Figure.Recall))
}

// RecallChart draws the recall of near pairs by group, a line for each method and language.
func (r *Result) RecallChart() *plot.Lines {
	c := &plot.Lines{Title: "Near pairs found (Jaccard at least 0.8), mean of groups", X: "k", Y: "recall"}
	for i := range r.Methods {
		m := &r.Methods[i]
		for j := range m.Recall {
			if x := &m.Recall[j]; x.Band == Near.String() && x.Kind == Same {
				c.Series = append(c.Series, measured(strings.TrimSpace(m.Name+" "+x.Lang), &x.PerGroup,
					slices.Repeat([]int{x.Groups}, MaxK+1)))
			}
		}
	}
	return c
}

// LabelChart draws figure 1 of the paper from the labels alone: precision and recall within each k, for each method.
func (r *Result) LabelChart() *plot.Lines {
	c := &plot.Lines{Title: "Figure 1: precision and recall by the labels", X: "k", Y: "share"}
	for i := range r.Methods {
		m := &r.Methods[i]
		found, positive := make([]int, MaxK+1), make([]int, MaxK+1)
		for k := range found {
			found[k] = m.ByLabel.TruePositives[k] + m.ByLabel.FalsePositives[k]
			positive[k] = m.ByLabel.TruePositives[k] + m.ByLabel.FalseNegatives[k]
		}
		c.Series = append(c.Series, measured(m.Name+" precision", &m.ByLabel.Precision, found),
			measured(m.Name+" recall", &m.ByLabel.Recall, positive))
	}
	return c
}

// JaccardChart draws precision and recall as figure 1 does, with measured Jaccard similarities in place of labels.
func (r *Result) JaccardChart() *plot.Lines {
	c := &plot.Lines{Title: "Precision and recall by measured Jaccard, equal samples by distance", X: "k", Y: "share"}
	for i := range r.Methods {
		m := &r.Methods[i]
		c.Series = append(c.Series, measured(m.Name+" precision", &m.Figure.Precision, m.Figure.Judged[:]),
			measured(m.Name+" recall", &m.Figure.Recall, slices.Repeat(m.Figure.Judged[MaxK:], MaxK+1)))
	}
	return c
}

// measured returns a curve with the number of pairs and the interval at each k.
func measured(name string, curve *Curve, pairs []int) plot.Series {
	s := plot.Series{Name: name}
	for k, n := range pairs {
		s.Add(curve[k], n)
	}
	return s
}
