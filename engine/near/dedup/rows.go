package dedup

import (
	"sort"
	"strconv"
	"strings"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/rowset"
	"example.org/ndd/engine/storage/spill"
)

// rows holds the data of each document that does not depend on options.
type rows struct {
	fingerprints spill.Column[uint64]
	parts        []part                  // rows of each file, if they are the IDs
	records      records                 // IDs and places; empty if the rows are the IDs
	hashes       spill.Column[[2]uint64] // hashes of texts; or empty
	words        spill.Column[uint64]    // words of sketches; or empty
	short        rowset.Set              // rows that are too short for a fingerprint
	shorts       int                     // number of short rows
}

// A part is the rows of one fingerprint file without IDs.
type part struct {
	first Row
	file  string
}

// Len returns the number of documents.
func (r *rows) Len() int { return r.fingerprints.Len() }

// fingerprint returns the fingerprint of a row.
func (r *rows) fingerprint(row Row) uint64 { return r.fingerprints.All[row] }

// sketches returns all sketches by row, or nil if there are none.
func (r *rows) sketches() []sketch.Sketch { return memory.Cast[sketch.Sketch](r.words.All) }

// sketch returns the sketch of a row, zero if it has none. The corpus must have sketches.
func (r *rows) sketch(row Row) *sketch.Sketch { return &r.sketches()[row] }

// ID returns the ID of a row.
func (r *rows) ID(row Row) string {
	if len(r.parts) > 0 {
		return strconv.FormatUint(uint64(row), 10)
	}
	return strings.Clone(r.records.record(row).id)
}

// Place returns the place of a row's document. It is empty if the document was appended without one.
func (r *rows) Place(row Row) Place {
	if len(r.parts) == 0 {
		place := r.records.record(row).place
		return Place{strings.Clone(place.File), place.Row}
	}
	p := r.parts[sort.Search(len(r.parts), func(i int) bool { return r.parts[i].first > row })-1]
	return Place{p.file, int64(row-p.first) + 1}
}

// NumShort returns the number of documents that are too short for a fingerprint. They are only compared with equal
// documents.
func (r *rows) NumShort() int { return r.shorts }

// kept yields the first documents, up to a number of rows, that are not in omitted.
func (r *rows) kept(n Row, omitted rowset.Set, yield func(Kept) bool) {
	if len(r.parts) > 0 { // the rows are the IDs
		for row := range n {
			if !omitted.Has(int(row)) && !yield(Kept{r.ID(row), r.Place(row), false}) {
				return
			}
		}
		return
	}
	file := ""
	for row, rec := range r.records.iterate(n) {
		if omitted.Has(int(row)) {
			continue
		}
		if rec.place.File != file {
			file = strings.Clone(rec.place.File)
		}
		if !yield(Kept{strings.Clone(rec.id), Place{file, rec.place.Row}, r.short.Has(int(row))}) {
			return
		}
	}
}
