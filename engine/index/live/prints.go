package live

import (
	"cmp"
	"errors"
	"slices"
)

// An index whose recipe makes two fingerprints of a document stores two rows for each, one after the other, and numbers rows:
//
//	row        0        1        2        3
//	           first    second   first    second
//	ID         "a"      ""       "b"      ""
//	document   0                 1
//
// Both come and go by the same change, so that the number of a first row is even whatever was deleted or merged, and tables, logs,
// segments and merges know nothing of it. They hold both kinds together. A query has two fingerprints as well; its first one is
// compared with first ones, its second one with second ones, and what a search finds of the other kind is left out by [Joined]. A
// document is near when either is, and is named once, at the lesser distance.
//
// Searchers answer by rows. What leaves an index otherwise (an [Outcome], [Stats], [Index.Find]) and what [IDs] are asked for are
// numbers of documents: half of the first row's. With one fingerprint a document both are the same.

// ErrTwoPrints is wrapped where an index is to keep no documents and its recipe makes two fingerprints of each.
var ErrTwoPrints = errors.New("each document has two fingerprints, and whether one is its first or its second stands with the documents: keep their numbers at least")

// each returns how many fingerprints a document has.
func (c *Config) each() int { return c.Recipe.PrintsEach() }

// document returns the number of the document that a row is of.
func (c *Config) document(row DocID) DocID {
	if row == NoDoc {
		return row
	}
	return row / DocID(c.each())
}

// documents returns how many documents so many rows are.
func (c *Config) documents(rows uint64) uint64 { return rows / uint64(c.each()) }

// withSeconds appends the second rows of the documents whose first rows are in rows from number from on, each behind the first one.
func (c *Config) withSeconds(rows []DocID, from int) []DocID {
	if c.each() == 1 {
		return rows
	}
	firsts := slices.Clone(rows[from:])
	rows = rows[:from]
	for _, row := range firsts {
		rows = append(rows, row, row+1)
	}
	return rows
}

// prints appends the fingerprints of a document.
func (c *Config) prints(dst []uint64, d Doc) []uint64 {
	if dst = append(dst, uint64(d.Fingerprint)); c.each() > 1 {
		dst = append(dst, uint64(d.Second))
	}
	return dst
}

// A Joined puts together what the two fingerprints of queries find, which are searched for as queries of their own: number 2i and
// number 2i + 1. It holds the hits of one query.
type Joined struct {
	Most int                               // documents of each hit, the first ones
	Emit func(query int, hits []Hit) error // is given the hits of each query that has some, nearest first, each document once
	all  []Hit
	last int // query
}

// Add takes hits of a query, numbers ascending, with the rows of all their documents, and leaves out rows of the other kind. It
// calls Emit with those of the query before, whose error it returns.
func (j *Joined) Add(print int, hits []Hit) error {
	if print/2 != j.last {
		if err := j.End(); err != nil {
			return err
		}
		j.last = print / 2
	}
	for _, h := range hits {
		rows := make([]DocID, 0, len(h.Docs)/2+1)
		for _, row := range h.Docs {
			if int(row&1) == print&1 {
				rows = append(rows, row)
			}
		}
		if h.Docs = rows; len(rows) > 0 {
			j.all = append(j.all, h)
		}
	}
	return nil
}

// End calls Emit with the hits of the last query.
func (j *Joined) End() error {
	hits := j.hits()
	j.all = nil
	if len(hits) == 0 {
		return nil
	}
	return j.Emit(j.last, hits)
}

// hits returns those of a query by documents, each by its number at its least distance.
func (j *Joined) hits() (list []Hit) {
	slices.SortStableFunc(j.all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	seen := map[DocID]bool{}
	for _, h := range j.all {
		if last := len(list) - 1; last < 0 || list[last].Fingerprint != h.Fingerprint {
			list = append(list, Hit{Fingerprint: h.Fingerprint, Distance: h.Distance})
		}
		to := &list[len(list)-1]
		for _, row := range h.Docs {
			if doc := row / 2; !seen[doc] {
				seen[doc] = true
				to.Docs = append(to.Docs, doc)
			}
		}
	}
	list = slices.DeleteFunc(list, func(h Hit) bool { return len(h.Docs) == 0 })
	for i := range list {
		h := &list[i]
		slices.Sort(h.Docs)
		h.Documents = uint64(len(h.Docs))
		h.Docs = h.Docs[:min(max(j.Most, 0), len(h.Docs))]
	}
	return list
}
