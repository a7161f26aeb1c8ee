package dedup

import (
	"iter"
	"math/bits"
)

// A Result is the clusters of a corpus.
type Result struct {
	Distinct int     // fingerprints that were compared
	Known    []Known // rows that the caller has already, ascending
	Rejected int     // documents that would go by their fingerprints and stay by their texts or the lengths of these

	corpus   *Corpus
	verified bool
	rows     []uint32 // of the clusters, one after the other
	ends     []uint32 // cluster i has rows[ends[i-1]:ends[i]]
	kept     []uint32 // by cluster
	shares   []float32
}

// A Known is a row that is near a document that the caller has already.
type Known struct {
	Row        uint32
	ID         string // of that document
	Distance   int
	Similarity float32 // of their texts, if they were verified
}

// A Cluster is two documents or more of which one is kept. Its slices are not
// to be written.
type Cluster struct {
	Number       int       // from 1, in order of the first rows
	Rows         []uint32  // ascending
	Kept         uint32    // one of them
	Similarities []float32 // of each row's text to the kept one's, if they were verified
}

// A Drop is a document that is dropped.
type Drop struct {
	Row        uint32
	Kept       string // ID of what is kept for it
	KeptRow    int64  // its row; -1 where it is known from elsewhere
	Distance   int
	Similarity float32 // if texts were verified
}

// Len returns the number of clusters.
func (r *Result) Len() int { return len(r.ends) }

// Verified reports whether texts were compared.
func (r *Result) Verified() bool { return r.verified }

// Distance returns the distance of two rows' fingerprints, in bits: the lesser one where they have two.
func (r *Result) Distance(a, b uint32) int {
	d := bits.OnesCount64(r.corpus.prints[a] ^ r.corpus.prints[b])
	if len(r.corpus.second) > 0 {
		d = min(d, bits.OnesCount64(r.corpus.second[a]^r.corpus.second[b]))
	}
	return d
}

// Clusters returns the clusters, in order of their first rows.
func (r *Result) Clusters() iter.Seq[Cluster] {
	return func(yield func(Cluster) bool) {
		from := uint32(0)
		for i, end := range r.ends {
			c := Cluster{Number: i + 1, Rows: r.rows[from:end:end], Kept: r.kept[i]}
			if r.shares != nil {
				c.Similarities = r.shares[from:end:end]
			}
			if from = end; !yield(c) {
				return
			}
		}
	}
}

// Dropped returns the documents that are dropped: what is known, by row, then those
// of each cluster.
func (r *Result) Dropped() iter.Seq[Drop] {
	return func(yield func(Drop) bool) {
		for _, k := range r.Known {
			if !yield(Drop{k.Row, k.ID, -1, k.Distance, k.Similarity}) {
				return
			}
		}
		for c := range r.Clusters() {
			kept := r.corpus.ID(c.Kept)
			for i, row := range c.Rows {
				if row == c.Kept {
					continue
				}
				d := Drop{Row: row, Kept: kept, KeptRow: int64(c.Kept), Distance: r.Distance(row, c.Kept)}
				if r.verified {
					d.Similarity = c.Similarities[i]
				}
				if !yield(d) {
					return
				}
			}
		}
	}
}

// Kept returns the rows that are kept, ascending.
func (r *Result) Kept() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		dropped := r.droppedRows()
		for row := range r.corpus.prints {
			if !dropped.has(row) && !yield(uint32(row)) {
				return
			}
		}
	}
}

// droppedRows returns the set of the rows that are dropped.
func (r *Result) droppedRows() bitmap {
	dropped := newBitmap(r.corpus.Len())
	for _, k := range r.Known {
		dropped.set(int(k.Row))
	}
	for c := range r.Clusters() {
		for _, row := range c.Rows {
			if row != c.Kept {
				dropped.set(int(row))
			}
		}
	}
	return dropped
}
