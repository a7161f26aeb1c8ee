package eval

import (
	"slices"
	"strings"

	"example.org/ndd/engine/plot"
)

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
		b := &m.ByLabel
		c.Series = append(c.Series, labelSeries(m.Name, MaxK+1, func(k int) LabelCounts {
			return LabelCounts{b.TruePositives[k], b.FalsePositives[k], b.FalseNegatives[k]}
		})...)
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

// labelSeries returns the curves of precision and recall of n counts.
func labelSeries(name string, n int, counts func(i int) LabelCounts) []plot.Series {
	precision, recall := plot.Series{Name: name + " precision"}, plot.Series{Name: name + " recall"}
	for i := range n {
		c := counts(i)
		precision.Add(c.precision(), c.TruePositives+c.FalsePositives)
		recall.Add(c.recall(), c.TruePositives+c.FalseNegatives)
	}
	return []plot.Series{precision, recall}
}
