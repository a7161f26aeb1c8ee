package dedup

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strings"

	"ndd/engine/near/cluster"
)

// A Row is the number of a document of a corpus, from 0.
type Row = cluster.Row

// A Result is the clusters of a corpus.
type Result struct {
	Known    []Drop // rows that the caller has already, ascending; they are in no cluster, nor are the next ones
	SameURL  []Drop // rows with the URL of another one, ascending
	SameText []Drop // rows that are too short for a fingerprint, with the text of another one, ascending
	Rejected int    // documents that would go by their fingerprints and stay by their texts or the lengths of these

	corpus   *Corpus
	verified bool
	found    *cluster.Result
	likes    []Likeness // of the rows of found; nil: texts were not compared

	// Also has the results of other settings. Known rows are those of this one.
	Also []*Result
}

// A Cluster is two documents or more of which one is kept. Its slices are not
// to be written.
type Cluster struct {
	Number int        // from 1, in order of the first rows
	Rows   []Row      // ascending
	Kept   Row        // one of them
	Likes  []Likeness // of each row's text to the kept one's, if they were verified
}

// A Drop is a document that is dropped.
type Drop struct {
	Row      Row
	Kept     string // ID of what is kept for it; "" in Result.SameURL where that is a row
	KeptRow  int64  // its row; -1 where it is known from elsewhere
	Distance int
	Likeness // if texts were compared
	Compared bool
	Cluster  int // its number, 0 for none
}

// Len returns the number of clusters.
func (r *Result) Len() int { return r.found.Len() }

// Verified reports whether texts were compared.
func (r *Result) Verified() bool { return r.verified }

// Distance returns the distance of two rows' fingerprints, in bits.
func (r *Result) Distance(a, b Row) int {
	return bits.OnesCount64(r.corpus.print(a) ^ r.corpus.print(b))
}

// Farthest returns the dropped document of a cluster that is farthest from the one kept, the first
// of several, with its distance, and how many are farther than k.
func (r *Result) Farthest(c Cluster, k int) (row Row, distance, beyond int) {
	distance = -1
	for _, other := range c.Rows {
		d := r.Distance(other, c.Kept)
		if d > k {
			beyond++
		}
		if d > distance && other != c.Kept {
			row, distance = other, d
		}
	}
	return row, distance, beyond
}

// Clusters returns the clusters, in order of their first rows.
func (r *Result) Clusters() iter.Seq[Cluster] {
	return func(yield func(Cluster) bool) {
		for i, found := range r.found.Clusters() {
			c := Cluster{Number: i + 1, Rows: found.Rows, Kept: found.Representative}
			if r.likes != nil {
				c.Likes = r.likes[r.found.At(i):][:len(found.Rows)]
			}
			if !yield(c) {
				return
			}
		}
	}
}

// Dropped returns the dropped documents: known ones, those with the URL of another one, those too short with
// the text of another one, each by row, then those of each cluster.
func (r *Result) Dropped() iter.Seq[Drop] {
	return func(yield func(Drop) bool) {
		last, id := int64(-1), ""
		for d := range r.drops {
			if d.KeptRow != last && d.KeptRow >= 0 {
				last, id = d.KeptRow, r.corpus.ID(Row(d.KeptRow))
			}
			if d.KeptRow >= 0 {
				d.Kept = id
			}
			if !yield(d) {
				return
			}
		}
	}
}

// drops yields what Dropped returns, without the IDs of documents of the corpus.
func (r *Result) drops(yield func(Drop) bool) {
	for _, list := range [][]Drop{r.Known, r.SameURL, r.SameText} {
		for _, d := range list {
			if !yield(d) {
				return
			}
		}
	}
	for c := range r.Clusters() {
		for i, row := range c.Rows {
			if row == c.Kept {
				continue
			}
			d := Drop{Row: row, KeptRow: int64(c.Kept), Distance: r.Distance(row, c.Kept), Cluster: c.Number}
			if r.verified {
				d.Likeness, d.Compared = c.Likes[i], true
			}
			if !yield(d) {
				return
			}
		}
	}
}

// A Kept is a document that is kept.
type Kept struct {
	ID string
	Place
	Short bool // it has too few features for a fingerprint and was compared with equal texts alone
}

// Kept returns the documents that are kept, in the order of the inputs.
func (r *Result) Kept() iter.Seq[Kept] {
	return func(yield func(Kept) bool) { r.corpus.kept(0, Row(r.corpus.Len()), r.droppedRows(), yield) }
}

// KeptParts returns the documents of [Result.Kept] in parts of up to some rows, at least 1. Goroutines may range over different parts at a time.
func (r *Result) KeptParts(rows int) iter.Seq[iter.Seq[Kept]] {
	return func(yield func(iter.Seq[Kept]) bool) {
		dropped, n := r.droppedRows(), Row(r.corpus.Len())
		for first := Row(0); ; first += Row(rows) {
			last := min(first+Row(rows), n)
			part := func(yield func(Kept) bool) { r.corpus.kept(first, last, dropped, yield) }
			if !yield(part) || last == n {
				return
			}
		}
	}
}

// kept yields the documents of some rows that are not dropped.
func (c *Corpus) kept(first, last Row, dropped bitmap, yield func(Kept) bool) {
	if c.raw.prints.Len() > 0 { // the rows are the IDs
		for row := first; row < last; row++ {
			if !dropped.has(int(row)) && !yield(Kept{c.ID(row), c.Place(row), false}) {
				return
			}
		}
		return
	}
	file := ""
	for row, rec := range c.records.between(first, last) {
		if dropped.has(int(row)) {
			continue
		}
		if rec.place.File != file {
			file = strings.Clone(rec.place.File)
		}
		if !yield(Kept{strings.Clone(rec.id), Place{file, rec.place.Row}, c.short.has(int(row))}) {
			return
		}
	}
}

func findDrop(list []Drop, row Row) (d Drop, ok bool) {
	i, ok := slices.BinarySearchFunc(list, row, func(d Drop, row Row) int { return cmp.Compare(d.Row, row) })
	if ok {
		d = list[i]
	}
	return d, ok
}

// NumDropped returns how many documents are dropped.
func (r *Result) NumDropped() int {
	return len(r.Known) + len(r.SameURL) + len(r.SameText) + r.found.Rows() - r.found.Len()
}

// Beside returns how many documents another result drops that this one keeps, and how many it keeps
// that this one drops.
func (r *Result) Beside(other *Result) (more, fewer int) {
	here, there := r.droppedRows(), other.droppedRows()
	for row := range r.corpus.Len() {
		more += there.bit(row) &^ here.bit(row)
		fewer += here.bit(row) &^ there.bit(row)
	}
	return more, fewer
}

// A Doubt is a pair of documents near the threshold, of which one is kept.
type Doubt struct {
	Drop           // of the row that goes, or would go
	Gone   bool    // it is dropped; else it is kept, too, and in no cluster
	Beyond float64 // by how much the pair is above the threshold, or below it if that is negative
}

// Doubts returns up to n pairs nearest to the threshold, one for each kept document at most: half of
// them dropped and half of them kept by this result and dropped by one of Also, as far as there are
// both. It yields no documents that are dropped for known ones.
func (r *Result) Doubts(n int, o Options) (list []Doubt) {
	dropped := r.droppedRows()
	gone := r.doubts(o, func(d *Drop) bool { return true })
	var kept []Doubt
	for _, other := range r.Also {
		kept = append(kept, other.doubts(o, func(d *Drop) bool {
			return !dropped.has(int(d.Row)) && !dropped.has(int(d.KeptRow))
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

// doubts returns of each cluster the pair nearest to the threshold of some options, of those that
// are wanted.
func (r *Result) doubts(o Options, want func(*Drop) bool) (list []Doubt) {
	for drop := range r.drops {
		if drop.Cluster == 0 || !want(&drop) {
			continue
		}
		d := Doubt{drop, true, float64(o.K - drop.Distance)}
		if o.Verify != nil {
			d.Beyond = o.Verify.Rule.beyond(d.Likeness)
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

func (r *Result) droppedRows() bitmap {
	dropped := make(bitmap, 0, r.corpus.Len()/64+1)
	for d := range r.drops {
		dropped.set(int(d.Row))
	}
	return dropped
}
