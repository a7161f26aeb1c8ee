package rows

import "sort"

// Numbers are the DocIDs of a segment's rows, ascending: runs of consecutive ones. Documents keep
// their numbers when those beside them are dropped by a merge, so a segment of which nothing was
// ever dropped has one run, and one more for each gap.
//
//	row   0   1   2   3   4        rows  0  3
//	doc   7   8   9  40  41        docs  7 40
type Numbers struct{ runs[DocID] }

// NewNumbers returns the numbers of n rows that begin with first.
func NewNumbers(first DocID, n uint64) (d Numbers) {
	d.Append(first, n)
	return d
}

// Append adds n documents from number first on, which is beyond all that are there.
func (d *Numbers) Append(first DocID, n uint64) {
	if n == 0 {
		return
	}
	if d.N == 0 || d.End() != first {
		d.begin(first)
	}
	d.N += n
}

// First returns the first document.
func (d *Numbers) First() DocID {
	if d.N == 0 {
		return 0
	}
	return d.Values[0]
}

// End returns the number behind the last document.
func (d *Numbers) End() DocID {
	if d.N == 0 {
		return 0
	}
	last := len(d.Rows) - 1
	return d.Values[last] + DocID(d.N-d.Rows[last])
}

// Doc returns the document of a row.
func (d *Numbers) Doc(row uint64) DocID {
	i := d.of(row)
	return d.Values[i] + DocID(row-d.Rows[i])
}

// Row returns the row of a document; ok is false when it has none.
func (d *Numbers) Row(doc DocID) (row uint64, ok bool) {
	i := sort.Search(len(d.Values), func(i int) bool { return d.Values[i] > doc }) - 1
	if i < 0 {
		return 0, false
	}
	row = d.Rows[i] + uint64(doc-d.Values[i])
	return row, row < d.end(i)
}

// ReadNumbers returns the numbers of n rows read from a file; ok is false when they are not valid.
func ReadNumbers(rows []uint64, docs []DocID, n uint64) (d Numbers, ok bool) {
	if len(rows) != len(docs) || (n == 0) != (len(rows) == 0) || n > 0 && rows[0] != 0 {
		return d, false
	}
	for i := range rows {
		if docs[i] > Max || rows[i] >= n {
			return d, false
		}
		if i > 0 && (rows[i] <= rows[i-1] || docs[i] <= docs[i-1] || uint64(docs[i]-docs[i-1]) <= rows[i]-rows[i-1]) {
			return d, false
		}
	}
	return Numbers{runs[DocID]{rows, docs, n}}, true
}
