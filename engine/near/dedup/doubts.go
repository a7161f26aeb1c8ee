package dedup

import (
	"cmp"
	"math"
	"slices"
)

// Difference returns how many documents a result drops that another one keeps, and how many it keeps that the other
// one drops.
func Difference(r, other *Result) (more, fewer int) {
	here, there := r.droppedRows(), other.droppedRows()
	for row := range r.corpus.Len() {
		more += here.Bit(row) &^ there.Bit(row)
		fewer += there.Bit(row) &^ here.Bit(row)
	}
	return more, fewer
}

// A Doubt is a kept document and another one, near the threshold.
type Doubt struct {
	Drop           // the other document, which is dropped, or which another setting would drop
	Gone   bool    // it is dropped; else it is kept, and in no cluster
	Beyond float64 // distance of the pair from the threshold, negative below it
}

// Doubts returns up to n pairs of a result that are nearest to the threshold, at most one for each kept document. Half
// of them are dropped. The other half is kept by the result and dropped by one of Also. If one half has fewer, the
// other one has more. Documents that are dropped for known ones are left out.
func Doubts(r *Result, n int, o Options) (list []Doubt) {
	dropped := r.droppedRows()
	gone := doubtsOf(r, o, func(d *Drop) bool { return true })
	var kept []Doubt
	for _, other := range r.Also {
		kept = append(kept, doubtsOf(other, o, func(d *Drop) bool {
			return !dropped.Has(int(d.Row)) && !dropped.Has(int(d.KeptRow))
		})...)
	}
	for i := range kept {
		kept[i].Gone, kept[i].Cluster = false, 0
	}
	for _, half := range []*[]Doubt{&gone, &kept} {
		slices.SortStableFunc(*half, func(a, b Doubt) int { return cmp.Compare(math.Abs(a.Beyond), math.Abs(b.Beyond)) })
	}
	seen := map[Row]bool{} // a pair of two results
	kept = slices.DeleteFunc(kept, func(d Doubt) bool {
		again := seen[d.Row]
		seen[d.Row] = true
		return again
	})
	fromKept := min(len(kept), max(n/2, n-len(gone)))
	return append(gone[:min(len(gone), n-fromKept)], kept[:fromKept]...)
}

// doubtsOf returns the pair of each cluster that is nearest to the threshold of some options, among those that are
// wanted.
func doubtsOf(r *Result, o Options, want func(*Drop) bool) (list []Doubt) {
	for drop := range r.drops {
		if drop.Cluster == 0 || !want(&drop) {
			continue
		}
		d := Doubt{drop, true, float64(o.K - drop.Distance)}
		if r.verified && len(o.Rule) > 0 {
			d.Beyond = o.Rule.beyond(d.Likeness)
		}
		last := len(list) - 1
		if last < 0 || list[last].Cluster != d.Cluster {
			list = append(list, d)
		} else if math.Abs(d.Beyond) < math.Abs(list[last].Beyond) {
			list[last] = d
		}
	}
	return list
}
