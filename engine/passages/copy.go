package passages

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/near/dedup"
	"ndd/engine/result"
)

// Copy reads the inputs again and copies them without the cuts, as
// [dedup.Rewriting] does; finished copies of to.Work are taken over. A document of which nothing but
// white space would be left goes as a whole.
func (r *Result) Copy(ctx context.Context, to *dedup.Copies) (dedup.CopyReport, error) {
	return r.rewrite(ctx, to, nil, r.judge)
}

// Annotations are the columns that [Result.Annotate] adds to documents.
var Annotations = []result.Column{{Name: "ndd_spans", Kind: result.Text, Optional: true},
	{Name: "ndd_repeated", Kind: result.Real, Optional: true}}

// Annotate copies the inputs as [Result.Copy] does, with all text, and adds [Annotations] to each document:
// a list of its spans, and the share of its text that goes. Records that became no document have none.
func (r *Result) Annotate(ctx context.Context, to *dedup.Copies) (dedup.CopyReport, error) {
	note := func(h *head, _ *document.Extractor, _ document.Unit) (dedup.Verdict, error) {
		return dedup.Verdict{Note: h.Row + 1}, nil
	}
	return r.rewrite(ctx, to, &dedup.Fields{Columns: Annotations, Values: r.values}, note)
}

// values returns the values of [Annotations]; a note is a row, from 1.
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

// rewrite reads the inputs again and copies them, as judge says of each document.
func (r *Result) rewrite(ctx context.Context, to *dedup.Copies, fields *dedup.Fields,
	judge func(*head, *document.Extractor, document.Unit) (dedup.Verdict, error)) (dedup.CopyReport, error) {
	first, behind := map[string]int{}, map[string]int{} // rows of each file
	for i, f := range r.spool.files {
		if first[f.source], behind[f.source] = f.row, r.Len(); i+1 < len(r.spool.files) {
			behind[f.source] = r.spool.files[i+1].row
		}
	}
	w := dedup.Rewriting{Inputs: r.inputs, Options: r.reading, FileUnits: r.fileUnits, Threads: r.o.Threads,
		Fields: fields, Judge: func(f document.File, _ int) (dedup.Judge, func() int) {
			row, end := first[f.Path], behind[f.Path]
			return func(x *document.Extractor, u document.Unit) (v dedup.Verdict, err error) {
				if row == end {
					return v, nil
				}
				h := r.spool.at(row)
				if h.Source != u.Source || h.Line != u.Line {
					return v, nil // it became no document
				}
				if _, err := x.Borrow(u); err != nil {
					return v, nil // nor did it: in a JSON list, documents can share a line
				}
				row++
				return judge(&h, x, u)
			}, func() int { return end - row }
		}}
	if fields == nil {
		w.Decision = func(f document.File, _, _ int) []byte {
			h := sha256.New()
			for row := first[f.Path]; row < behind[f.Path]; row++ {
				if cuts := r.Document(row).Cuts; len(cuts) > 0 {
					fmt.Fprintln(h, r.spool.at(row).Line, cuts)
				}
			}
			return h.Sum(nil)
		}
	}
	return w.Copy(ctx, to)
}

// judge says what of a document goes, whose unit was read again.
func (r *Result) judge(h *head, x *document.Extractor, u document.Unit) (v dedup.Verdict, err error) {
	cuts := r.Document(h.Row).Cuts
	if len(cuts) == 0 {
		return v, nil
	}
	doc, err := x.Extract(u)
	if err != nil || xxhash.Sum64String(doc.Text) != h.hash {
		return v, ingest.Changed(document.Place(u.Source, u.Line))
	}
	at, left := 0, false
	for _, c := range cuts {
		left = left || strings.TrimSpace(doc.Text[at:c.From]) != ""
		at = c.To
		v.Cuts = append(v.Cuts, document.Range{From: int64(c.From), To: int64(c.To)})
	}
	v.Drop = !left && strings.TrimSpace(doc.Text[at:]) == ""
	return v, nil
}
