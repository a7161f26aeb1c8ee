package passages

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/corpus/rewrite/droplist"
	"example.org/ndd/engine/result"
)

// Copy reads the inputs again and copies them without the cuts. It leaves out a document if only white space
// would remain.
func (r *Result) Copy(ctx context.Context, to *rewrite.Target) (rewrite.Report, error) {
	return r.rewrite(ctx, to, nil, r.judge)
}

// Annotations are the columns that [Result.Annotate] adds to documents.
var Annotations = []result.Column{{Name: "ndd_spans", Kind: result.Text, Optional: true},
	{Name: "ndd_repeated", Kind: result.Real, Optional: true}}

// Annotate copies the inputs as [Result.Copy] does, but with all text. It adds [Annotations] to each document:
// a list of its spans, and the share of its text that Copy would remove. Records that are not documents get no
// values.
func (r *Result) Annotate(ctx context.Context, to *rewrite.Target) (rewrite.Report, error) {
	note := func(h *head, _ *format.Document) (rewrite.Verdict, error) {
		return rewrite.Verdict{Note: h.Row + 1}, nil
	}
	return r.rewrite(ctx, to, &rewrite.Fields{Columns: Annotations, Values: r.values}, note)
}

// values returns the values of [Annotations]. A note is the row of a document plus 1, or 0 if there is no
// document.
func (r *Result) values(note int) []any {
	if note == 0 {
		return []any{nil, nil}
	}
	d := r.Document(note - 1)
	list := []byte("[")
	for s := range r.Spans(d.Row) {
		id, err := json.Marshal(s.First.ID)
		if err != nil {
			panic(err) // a string can be written
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = fmt.Appendf(list, `{"from":%d,"to":%d,"from_char":%d,"to_char":%d,"count":%d,"kept":%t,`+
			`"first_id":%s,"first_from":%d}`,
			s.From, s.To, s.FromChar, s.ToChar, s.Count, s.Kept, id, s.First.From)
	}
	return []any{json.RawMessage(append(list, ']')), float64(d.CutBytes()) / float64(max(d.TextBytes, 1))}
}

// rewrite reads the inputs again and copies them. The function judge decides about each document.
func (r *Result) rewrite(ctx context.Context, to *rewrite.Target, fields *rewrite.Fields,
	judge func(*head, *format.Document) (rewrite.Verdict, error)) (rewrite.Report, error) {
	// Find the rows of each file.
	rows := map[string][2]int{} // for each file, its first row and the row after its last
	for i, f := range r.spool.files {
		end := r.Len()
		if i+1 < len(r.spool.files) {
			end = r.spool.files[i+1].row
		}
		rows[f.source] = [2]int{f.row, end}
	}
	j := rewrite.Job{Inputs: r.inputs, Options: r.readOptions, FileUnits: r.fileUnits, Threads: r.o.Threads, Fields: fields}
	// The judge follows the rows of its file while the units are read again.
	j.Judge = func(f input.File, _, _ int) rewrite.Judge {
		row, end := rows[f.Path][0], rows[f.Path][1]
		result := rewrite.Judge{Missing: func() int { return end - row }}
		result.Unit = func(x *format.Extractor, u format.Unit) (v rewrite.Verdict, err error) {
			if row == end {
				return v, nil
			}
			h := r.spool.readHead(row)
			if h.Source != u.Source || h.Line != u.Line {
				return v, nil // the unit is not a document
			}
			doc, err := x.Borrow(u)
			if err != nil {
				return v, nil // as above: in a JSON list, documents can share a line
			}
			row++
			return judge(&h, &doc)
		}
		if first := row; fields == nil {
			result.Decision = func(hash io.Writer) { r.decision(hash, first, end) }
		}
		return result
	}
	return j.Copy(ctx, to)
}

// decision writes the cuts of some documents of a file to a hash.
func (r *Result) decision(hash io.Writer, row, end int) {
	for ; row < end; row++ {
		if cuts := r.Document(row).Cuts; len(cuts) > 0 {
			fmt.Fprintln(hash, r.spool.readHead(row).Line, cuts)
		}
	}
}

// judge returns the verdict about a document that was read again.
func (r *Result) judge(h *head, doc *format.Document) (v rewrite.Verdict, err error) {
	cuts := r.Document(h.Row).Cuts
	if len(cuts) == 0 {
		return v, nil
	}
	if xxhash.Sum64String(doc.Text) != h.hash {
		return v, ingest.Changed(input.Place(doc.Source, doc.Line))
	}
	return rewrite.CutText(doc.Text, rangesOf(cuts)), nil
}

func rangesOf(cuts []Cut) (list []format.Range) {
	for _, c := range cuts {
		list = append(list, format.Range{From: int64(c.From), To: int64(c.To)})
	}
	return list
}

// Inputs returns the files that were read, in order.
func (r *Result) Inputs() (list []droplist.InputFile) {
	for _, f := range r.fileUnits {
		list = append(list, droplist.InputFile{Path: f.Path, Bytes: f.Bytes, Content: f.Content})
	}
	return list
}

// Decisions yields the documents that lose text, in order, for [droplist.WriteRows].
func (r *Result) Decisions(yield func(droplist.Decision) bool) {
	for d := range r.Documents() {
		if len(d.Cuts) > 0 && !yield(droplist.Decision{File: d.Source, Row: int64(d.Line), ID: d.ID, Cuts: rangesOf(d.Cuts),
			TextHash: r.spool.readHead(d.Row).hash}) {
			return
		}
	}
}
