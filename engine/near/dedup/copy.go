package dedup

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"slices"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/near/rowset"
	"example.org/ndd/engine/result"
)

// Copy reads the inputs again and copies them without the dropped documents. Records that are no documents are copied,
// and documents that are too short to be compared.
func (r *Result) Copy(ctx context.Context, to *rewrite.Target) (rewrite.Report, error) {
	return copyInputs(ctx, r, to, nil)
}

// Annotations are the columns that [Result.Annotate] adds to documents.
var Annotations = []result.Column{{Name: "ndd_cluster", Kind: result.Integer, Optional: true},
	{Name: "ndd_kept", Kind: result.Flag}, {Name: "ndd_kept_id", Kind: result.Text, Optional: true},
	{Name: "ndd_distance", Kind: result.Integer, Optional: true}, {Name: "ndd_jaccard", Kind: result.Real, Optional: true},
	{Name: "ndd_contained", Kind: result.Real, Optional: true}}

// Annotate copies the inputs with all documents and adds [Annotations] to each. These are the number of its cluster, if
// any, and whether it is kept. For a dropped document, they include the kept document and the distance to it. Records
// without a comparison count as kept.
func (r *Result) Annotate(ctx context.Context, to *rewrite.Target) (rewrite.Report, error) {
	return copyInputs(ctx, r, to, &rewrite.Fields{Columns: Annotations, Values: notesOf(r).values})
}

// notes find the values of [Annotations].
type notes struct {
	r    *Result
	list []note // sorted by row
	kept []Row  // the kept row of each cluster
}

// A note is a row of a cluster, with the number of the cluster, from 0, and the index of the row's likeness.
type note struct {
	row            Row
	cluster, index uint32
}

func notesOf(r *Result) *notes {
	n := &notes{r: r, list: make([]note, 0, r.clusters.Rows())}
	for i, c := range r.clusters.Clusters() {
		n.kept = append(n.kept, c.Representative)
		for j, row := range c.Rows {
			n.list = append(n.list, note{row, uint32(i), uint32(r.clusters.At(i) + j)})
		}
	}
	slices.SortFunc(n.list, func(a, b note) int { return cmp.Compare(a.row, b.row) })
	return n
}

// values returns the values of [Annotations] for the row number-1. Number 0 is a record that is no row.
func (n *notes) values(number int) []any {
	r, row, none := n.r, Row(number-1), []any{nil, true, nil, nil, nil, nil}
	if number == 0 {
		return none
	}
	if d, gone := findDrop(r.SameURL, row); gone {
		if d.KeptRow < 0 {
			return []any{nil, false, d.Kept, nil, nil, nil}
		}
		return []any{nil, false, r.corpus.ID(Row(d.KeptRow)), int64(d.Distance), nil, nil}
	}
	if d, gone := findDrop(r.SameText, row); gone {
		return []any{nil, false, r.corpus.ID(Row(d.KeptRow)), int64(0), 1.0, 1.0}
	}
	if d, gone := findDrop(r.Known, row); gone {
		return append([]any{nil, false, d.Kept, int64(d.Distance)}, likeness(d.Likeness)...)
	}
	i, found := slices.BinarySearchFunc(n.list, row, func(n note, row Row) int { return cmp.Compare(n.row, row) })
	if !found {
		return none
	}
	entry := n.list[i]
	cluster, kept := int64(entry.cluster)+1, n.kept[entry.cluster]
	if row == kept {
		return []any{cluster, true, nil, nil, nil, nil}
	}
	return append([]any{cluster, false, r.corpus.ID(kept), int64(r.Distance(row, kept))}, likeness(r.likes[entry.index])...)
}

// likeness returns the two values of a likeness. A value is nil if it is not known.
func likeness(l Likeness) []any {
	values := []any{nil, nil}
	for i, share := range []float32{l.Jaccard, l.Contained} {
		if share > 0 {
			values[i] = float64(share)
		}
	}
	return values
}

// copyInputs copies the inputs without the dropped documents or, if fields is not nil, with additional fields. It
// returns an error if a dropped document or the document kept for it has changed.
func copyInputs(ctx context.Context, r *Result, to *rewrite.Target, fields *rewrite.Fields) (rewrite.Report, error) {
	c, dropped := r.corpus, r.droppedRows()
	if err := c.from.readable(); err != nil {
		return rewrite.Report{}, err
	}
	// Mark the documents that others were dropped for. They must not have changed, either.
	kept := make(rowset.Set, len(dropped))
	for d := range r.drops {
		if d.KeptRow >= 0 {
			kept.Add(int(d.KeptRow))
		}
	}
	// Each file gets a judge that follows the rows of its units.
	j := rewrite.Job{Inputs: c.from.inputs, Options: c.from.options, FileUnits: c.from.fileUnits, Threads: c.o.Threads,
		Memory: c.room.copyBytes(), Fields: fields}
	j.Judge = func(_ input.File, unit, units int) rewrite.Judge {
		next := c.from.rowAt(unit)
		judge := rewrite.Judge{Unit: func(x *format.Extractor, u format.Unit) (v rewrite.Verdict, err error) {
			row, isRow := next, next < Row(c.from.units.Len()) && c.from.units.All[next] == uint64(unit)
			if unit++; !isRow {
				return v, nil
			}
			next++
			// Check a document if a decision depends on it.
			v = rewrite.Verdict{Drop: dropped.Has(int(row)), Note: int(next)}
			if !v.Drop && !kept.Has(int(row)) {
				return v, nil
			}
			if doc, err := x.Extract(u); err != nil || !c.from.same(row, &doc) {
				return v, c.from.changed(row)
			}
			return v, nil
		}}
		// A file that loses nothing may be copied as a whole. A decision lets a later run reuse the copy.
		judge.Whole = !c.from.lacks(dropped, unit, units)
		if first := unit; fields == nil {
			judge.Decision = func(hash io.Writer) { c.from.decision(hash, dropped, first, units) }
		}
		return judge
	}
	return j.Copy(ctx, to)
}

// lacks reports whether the document of at least one of the units is dropped.
func (o *origin) lacks(dropped rowset.Set, first, units int) bool {
	end := o.rowAt(first + units)
	for row := o.rowAt(first); row < end; row++ {
		if dropped.Has(int(row)) {
			return true
		}
	}
	return false
}

// decision writes the numbers of the dropped documents among some units to a hash.
func (o *origin) decision(hash io.Writer, dropped rowset.Set, first, units int) {
	end := o.rowAt(first + units)
	for row := o.rowAt(first); row < end; row++ {
		if dropped.Has(int(row)) {
			hash.Write(binary.LittleEndian.AppendUint64(nil, o.units.All[row]-uint64(first)))
		}
	}
}

// Filter copies lines from in to out in one pass, as [rewrite.Lines] does. It drops the documents for which seen
// reports an earlier near document. Of equal documents that are too short for a fingerprint it keeps the first one.
// One goroutine calls seen, in order.
func Filter(ctx context.Context, in io.Reader, out io.Writer, cfg ingest.Config,
	seen func(ingest.Record) (bool, error)) (dropped int, _ ingest.Report, _ error) {
	short := map[[2]uint64]bool{} // hashes of texts that are too short for a fingerprint
	return rewrite.Lines(ctx, in, out, cfg, func(r ingest.Record) (bool, error) {
		if r.OK {
			return seen(r)
		}
		again := short[r.Hash]
		if r.TextBytes > 0 {
			short[r.Hash] = true
		}
		return again, nil
	})
}
