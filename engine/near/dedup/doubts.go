package dedup

import (
	"cmp"
	"math"
	"slices"
)

// A Doubt is a dropped document, near the threshold.
type Doubt struct {
	Drop
	Margin float64 // by how much the pair exceeds the threshold
}

// Doubts returns up to n dropped documents that are nearest to the threshold of the options, at most one for each kept
// document. It leaves out documents that are dropped for known ones.
func Doubts(r *Result, n int, o Options) (list []Doubt) {
	for drop := range r.drops {
		if drop.Cluster == 0 {
			continue
		}
		d := Doubt{drop, float64(o.K - drop.Distance)}
		if r.verified && len(o.Rule) > 0 {
			d.Margin = o.Rule.margin(d.Likeness)
		}
		last := len(list) - 1
		if last < 0 || list[last].Cluster != d.Cluster {
			list = append(list, d)
		} else if math.Abs(d.Margin) < math.Abs(list[last].Margin) {
			list[last] = d
		}
	}
	slices.SortStableFunc(list, func(a, b Doubt) int { return cmp.Compare(math.Abs(a.Margin), math.Abs(b.Margin)) })
	return list[:min(n, len(list))]
}
