package dedup

import (
	"cmp"
	"math"
	"slices"
)

// Difference compares two results. It returns the number of documents that only r drops, and the number of documents
// that only other drops.
func Difference(r, other *Result) (added, removed int) {
	a, b := r.droppedRows(), other.droppedRows()
	for row := range r.corpus.Len() {
		added += a.Bit(row) &^ b.Bit(row)
		removed += b.Bit(row) &^ a.Bit(row)
	}
	return added, removed
}

// A Doubt is a kept document and another one, near the threshold.
type Doubt struct {
	Drop           // the other document; the result drops it, or another setting would
	Gone   bool    // true if the other document is dropped; false if both are kept
	Margin float64 // distance of the pair from the threshold, negative below it
}

// Doubts returns up to n pairs that are nearest to the threshold, at most one for each kept document. In one half of
// the pairs, the result drops a document. In the other half, it keeps both documents, and a result of Others drops one.
// If one half has too few pairs, the other half has more. Doubts leaves out documents that are dropped for known ones.
func Doubts(r *Result, n int, o Options) (list []Doubt) {
	dropped := r.droppedRows()
	removed := doubtsOf(r, o, func(d *Drop) bool { return true })
	var kept []Doubt
	for _, other := range r.Others {
		kept = append(kept, doubtsOf(other, o, func(d *Drop) bool {
			return !dropped.Has(int(d.Row)) && !dropped.Has(int(d.KeptRow))
		})...)
	}
	for i := range kept {
		kept[i].Gone, kept[i].Cluster = false, 0
	}
	for _, list := range []*[]Doubt{&removed, &kept} {
		slices.SortStableFunc(*list, func(a, b Doubt) int { return cmp.Compare(math.Abs(a.Margin), math.Abs(b.Margin)) })
	}
	seen := map[Row]bool{} // several results may have the same pair
	kept = slices.DeleteFunc(kept, func(d Doubt) bool {
		again := seen[d.Row]
		seen[d.Row] = true
		return again
	})
	fromKept := min(len(kept), max(n/2, n-len(removed)))
	return append(removed[:min(len(removed), n-fromKept)], kept[:fromKept]...)
}

// doubtsOf returns the wanted pair of each cluster that is nearest to the threshold of the options. It leaves out
// clusters without a wanted pair.
func doubtsOf(r *Result, o Options, want func(*Drop) bool) (list []Doubt) {
	for drop := range r.drops {
		if drop.Cluster == 0 || !want(&drop) {
			continue
		}
		d := Doubt{drop, true, float64(o.K - drop.Distance)}
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
	return list
}
