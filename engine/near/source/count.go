package source

import "iter"

// A Count counts the documents of a source.
type Count struct {
	Source    string // "" for documents without the field
	Documents int    // number of documents read, including documents that are too short to be compared
	Dropped   int
	KeptFor   int // documents of other sources that were dropped for a document of this source
}

// Kept returns the number of documents that are kept.
func (c *Count) Kept() int { return c.Documents - c.Dropped }

// Counts returns the counts of all sources. drops yields the dropped rows. Each comes with the row that is kept for it,
// or -1 if the kept document is no row.
func (t *Table) Counts(drops iter.Seq2[int, int]) []Count {
	list := make([]Count, len(t.names))
	for i, name := range t.names {
		list[i] = Count{Source: name, Documents: t.documents[i]}
	}
	for row, keptRow := range drops {
		own := t.ofRow(row)
		list[own].Dropped++
		if keptRow < 0 {
			continue
		}
		if kept := t.ofRow(keptRow); kept != own {
			list[kept].KeptFor++
		}
	}
	return list
}

// An Excess is a limit that is exceeded, and the count that exceeds it.
type Excess struct {
	Limit
	Count
}

// Excesses returns the limits that some counts exceed.
func (t *Table) Excesses(counts []Count) (list []Excess) {
	var all Count
	for _, c := range counts {
		all.Documents, all.Dropped = all.Documents+c.Documents, all.Dropped+c.Dropped
	}
	for _, limit := range t.Limits {
		c := all
		if limit.Source != "" {
			c = counts[t.find(limit.Source)]
		}
		const rounding = 1 + 1e-12 // 0.29 * 100 is less than 29
		if float64(c.Dropped) > limit.Share*float64(c.Documents)*rounding {
			list = append(list, Excess{limit, c})
		}
	}
	return list
}
