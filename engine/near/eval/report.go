package eval

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// WriteText writes the result as tables for a terminal.
func (r *Result) WriteText(w io.Writer) error {
	pairs := plural(r.Pairs, "labelled pair")
	if r.Copies > 0 {
		pairs = plural(r.Copies, "edited copy")
	}
	_, err := fmt.Fprintf(w, "%s with %s, %s of text in all.\n", plural(r.Documents, "document"), pairs,
		humanize.IBytes(uint64(r.TextBytes)))
	for i := range r.Methods {
		if m := &r.Methods[i]; err == nil {
			_, err = fmt.Fprintf(w, "\n%s\n%s%s", m.heading(r.TextBytes), r.table(m).String(), m.explanation())
		}
	}
	return err
}

// explanation gives the reason for missing figures.
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
		s += fmt.Sprintf("; pairs verified: estimated Jaccard at least %g", m.Verify)
	}
	if m.TooShort > 0 {
		s += fmt.Sprintf("; %s too short for a fingerprint", plural(m.TooShort, "document"))
	}
	return s
}

// shows returns the formatted cells of a scaled curve.
func shows(format string, scale float64, c *Curve) func(k int) string {
	return func(k int) string { return cell(format, scale*c[k]) }
}

func percent(c *Curve) func(k int) string { return shows("%.1f", 100, c) }

func number(c *Counts) func(k int) string {
	return func(k int) string { return humanize.Comma(int64(c[k])) }
}

// Name returns the language, label and band of the pairs.
func (r *Recall) Name() string {
	return strings.Join(strings.Fields(r.Lang+" "+r.Kind+" "+r.Band), " ")
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
}

func (b *ByLabel) addTo(t *textTable) {
	t.row("by the labels: true positives", number(&b.TruePositives))
	t.row("  false positives", number(&b.FalsePositives))
	t.row("  false negatives", number(&b.FalseNegatives))
	t.row("  precision, %", percent(&b.Precision))
	t.row("  recall, %", percent(&b.Recall))
	t.row("  F1, %", percent(&b.F1))
}

// addTo adds the rows that do not depend on labels.
func (m *MethodResult) addTo(t *textTable) {
	t.row("candidates: pairs of documents", number(&m.Candidates))
	t.row("reported pairs", number(&m.Precision.Reported))
	t.row("  precision: Jaccard at least 0.5, %", shows("%.2f", 100, &m.Precision.Share))
	t.row("by measured Jaccard, equal samples: precision, %", percent(&m.Figure.Precision))
	t.row("by measured Jaccard, equal samples: recall, %", percent(&m.Figure.Recall))
}
