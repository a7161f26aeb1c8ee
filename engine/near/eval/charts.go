package eval

import "example.org/ndd/engine/plot"

// LabelChart draws figure 1 of the paper from the labels alone: precision and recall within each k, for each method.
func (r *Result) LabelChart() *plot.Chart {
	c := &plot.Chart{Title: "Figure 1: precision and recall by the labels", X: "k", Y: "share", Top: 1}
	for i := range r.Methods {
		m := &r.Methods[i]
		c.Series = append(c.Series, plot.Series{Name: m.Name + " precision", Values: m.ByLabel.Precision[:]},
			plot.Series{Name: m.Name + " recall", Values: m.ByLabel.Recall[:]})
	}
	return c
}

// JaccardChart draws precision and recall as figure 1 does, with measured Jaccard similarities in place of labels.
func (r *Result) JaccardChart() *plot.Chart {
	c := &plot.Chart{Title: "Precision and recall by measured Jaccard, equal samples by distance", X: "k", Y: "share", Top: 1}
	for i := range r.Methods {
		m := &r.Methods[i]
		c.Series = append(c.Series, plot.Series{Name: m.Name + " precision", Values: m.Figure.Precision[:]},
			plot.Series{Name: m.Name + " recall", Values: m.Figure.Recall[:]})
	}
	return c
}
