package dedup

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/near/rowset"
	"example.org/ndd/engine/near/source"
)

// A Result holds the clusters of a corpus.
type Result struct {
	Known    []Drop // rows that the caller already has, ascending; like the next two, they are in no cluster
	SameURL  []Drop // rows with the URL of a preferred row, ascending
	SameText []Drop // rows that are too short for a fingerprint, with the text of a preferred row, ascending
	Rejected int    // documents that have near fingerprints, but are kept because they are not alike

	// Protected is the number of documents with near fingerprints that are kept only because they are protected, or
	// that are not alike and protected.
	Protected int

	Spilled uint64 // bytes of the search that did not fit in the budget, in temporary files

	corpus   *Corpus
	verified bool
	clusters *cluster.Result
	likes    []Likeness // likeness of each row of clusters
}

// A Cluster has at least two documents. One of them is kept. Its slices must not be written.
type Cluster struct {
	Number int        // number from 1, in order of the first rows
	Rows   []Row      // ascending
	Kept   Row        // one of them
	Likes  []Likeness // likeness of each row's text to the text of the kept document
}

// Len returns the number of clusters.
func (r *Result) Len() int { return r.clusters.Len() }

// Verified reports whether sketches, texts or hashes were compared.
func (r *Result) Verified() bool { return r.verified }

// Distance returns the distance of two rows' fingerprints, in bits.
func (r *Result) Distance(a, b Row) int {
	return bits.OnesCount64(r.corpus.fingerprint(a) ^ r.corpus.fingerprint(b))
}

// Farthest returns the dropped document of a cluster that is farthest from the kept one, and the distance. If several
// are equally far, it returns the first one.
func (r *Result) Farthest(c Cluster) (row Row, distance int) {
	distance = -1
	for _, other := range c.Rows {
		if d := r.Distance(other, c.Kept); d > distance && other != c.Kept {
			row, distance = other, d
		}
	}
	return row, distance
}

// Clusters returns the clusters, in order of their first rows.
func (r *Result) Clusters() iter.Seq[Cluster] {
	return func(yield func(Cluster) bool) {
		for i, cluster := range r.clusters.Clusters() {
			c := Cluster{Number: i + 1, Rows: cluster.Rows, Kept: cluster.Representative}
			if r.likes != nil {
				c.Likes = r.likes[r.clusters.At(i):][:len(cluster.Rows)]
			}
			if !yield(c) {
				return
			}
		}
	}
}

// Dropped returns the dropped documents: first the rows of Known, then of SameURL, of SameText, and of each cluster.
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

// drops yields the documents of Dropped without the IDs of documents of the corpus.
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
				d.Likeness = c.Likes[i]
			}
			if !yield(d) {
				return
			}
		}
	}
}

// Kept returns the documents that are kept, in the order of the inputs.
func (r *Result) Kept() iter.Seq[Kept] {
	return func(yield func(Kept) bool) { r.corpus.kept(Row(r.corpus.Len()), r.droppedRows(), yield) }
}

// DroppedInOrder yields the ID and the place of each document that a result drops, in the order of the inputs.
func DroppedInOrder(r *Result) iter.Seq2[string, Place] {
	return func(yield func(string, Place) bool) {
		kept := r.droppedRows()
		for i := range kept {
			kept[i] = ^kept[i]
		}
		r.corpus.kept(Row(min(64*len(kept), r.corpus.Len())), kept, func(d Kept) bool { return yield(d.ID, d.Place) })
	}
}

// findDrop finds the drop of a row in a list.
func findDrop(list []Drop, row Row) (d Drop, ok bool) {
	i, ok := slices.BinarySearchFunc(list, row, func(d Drop, row Row) int { return cmp.Compare(d.Row, row) })
	if ok {
		d = list[i]
	}
	return d, ok
}

// NumDropped returns the number of dropped documents.
func (r *Result) NumDropped() int {
	return len(r.Known) + len(r.SameURL) + len(r.SameText) + r.clusters.Rows() - r.clusters.Len()
}

// droppedRows returns the rows of the dropped documents.
func (r *Result) droppedRows() rowset.Set {
	dropped := make(rowset.Set, 0, r.corpus.Len()/64+1)
	for d := range r.drops {
		dropped.Add(int(d.Row))
	}
	return dropped
}

// Equal reports whether two documents are known to have the same text. Both need a hash.
func (r *Result) Equal(a, b Row) bool {
	h := r.corpus.hashes.All
	return len(h) > 0 && h[a] == h[b] && h[a] != [2]uint64{}
}

// Sources returns the counts of each source. The sources are in the order of their first documents.
func (r *Result) Sources() []source.Count {
	return r.corpus.sources.Counts(func(yield func(row, kept int) bool) {
		r.drops(func(d Drop) bool { return yield(int(d.Row), int(d.KeptRow)) })
	})
}

// Excesses returns the limits of [source.Options] that a result exceeds.
func Excesses(r *Result) []source.Excess { return r.corpus.sources.Excesses(r.Sources()) }
