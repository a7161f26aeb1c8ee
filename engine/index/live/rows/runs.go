package rows

import "sort"

// runs gives each row a value, by runs of rows that have the same one, or consecutive ones.
type runs[V ~uint64] struct {
	Rows   []uint64 // first row of each run
	Values []V      // its value
	N      uint64   // rows of all runs
}

// A Run is some rows, and the value of the first.
type Run[V ~uint64] struct {
	Value  V
	Row, N uint64
}

// Bytes returns the memory of all runs.
func (r *runs[V]) Bytes() uint64 { return 16 * uint64(len(r.Rows)) }

// begin begins a run with the next row.
func (r *runs[V]) begin(v V) {
	r.Rows = append(r.Rows, r.N)
	r.Values = append(r.Values, v)
}

// of returns the run that a row is in.
func (r *runs[V]) of(row uint64) int {
	if len(r.Rows) == 1 {
		return 0
	}
	return sort.Search(len(r.Rows), func(i int) bool { return r.Rows[i] > row }) - 1
}

// end returns the row behind a run.
func (r *runs[V]) end(i int) uint64 {
	if i+1 < len(r.Rows) {
		return r.Rows[i+1]
	}
	return r.N
}

// Runs yields the runs in order.
func (r *runs[V]) Runs(yield func(Run[V]) bool) {
	for i, row := range r.Rows {
		if !yield(Run[V]{r.Values[i], row, r.end(i) - row}) {
			return
		}
	}
}
