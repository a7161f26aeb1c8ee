package live

import "sort"

// numbers are the DocIDs of a segment's rows, ascending: runs of consecutive ones. Documents keep
// their numbers when those beside them are dropped by a merge, so a segment of which nothing was
// ever dropped has one run, and one more for each gap.
//
//	row   0   1   2   3   4        rows  0  3
//	doc   7   8   9  40  41        docs  7 40
type numbers struct {
	rows []uint64 // first row of each run
	docs []DocID  // its document
	n    uint64   // rows of all runs
}

// consecutive returns the numbers of n rows that begin with first.
func consecutive(first DocID, n uint64) (d numbers) {
	d.append(first, n)
	return d
}

// append adds n documents from number first on, which is beyond all that are there.
func (d *numbers) append(first DocID, n uint64) {
	if n == 0 {
		return
	}
	if d.n == 0 || d.end() != first {
		d.rows = append(d.rows, d.n)
		d.docs = append(d.docs, first)
	}
	d.n += n
}

// first returns the first document.
func (d *numbers) first() DocID {
	if d.n == 0 {
		return 0
	}
	return d.docs[0]
}

// end returns the number behind the last document.
func (d *numbers) end() DocID {
	if d.n == 0 {
		return 0
	}
	last := len(d.rows) - 1
	return d.docs[last] + DocID(d.n-d.rows[last])
}

// doc returns the document of a row.
func (d *numbers) doc(row uint64) DocID {
	i := 0
	if len(d.rows) > 1 {
		i = sort.Search(len(d.rows), func(i int) bool { return d.rows[i] > row }) - 1
	}
	return d.docs[i] + DocID(row-d.rows[i])
}

// row returns the row of a document; ok is false when it has none.
func (d *numbers) row(doc DocID) (row uint64, ok bool) {
	i := sort.Search(len(d.docs), func(i int) bool { return d.docs[i] > doc }) - 1
	if i < 0 {
		return 0, false
	}
	row = d.rows[i] + uint64(doc-d.docs[i])
	if i+1 < len(d.rows) {
		return row, row < d.rows[i+1]
	}
	return row, row < d.n
}

// valid reports whether what was read from a file can be the numbers of n rows.
func (d *numbers) valid(n uint64) bool {
	if len(d.rows) != len(d.docs) || d.n != n || (n == 0) != (len(d.rows) == 0) || n > 0 && d.rows[0] != 0 {
		return false
	}
	for i := range d.rows {
		if d.docs[i] > documentsMax || d.rows[i] >= n {
			return false
		}
		if i > 0 && (d.rows[i] <= d.rows[i-1] || d.docs[i] <= d.docs[i-1] || uint64(d.docs[i]-d.docs[i-1]) <= d.rows[i]-d.rows[i-1]) {
			return false
		}
	}
	return true
}
