package passages

import (
	"context"
	"hash/maphash"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/near/dedup"
)

// Copy reads the inputs again, counted by meter unless it is nil, and copies them without the cuts, as
// [dedup.Rewriting] does. A document of which nothing but white space would be left goes as a whole.
func (r *Result) Copy(ctx context.Context, names *dedup.Copies, meter *document.Meter, create dedup.Create) (
	dedup.CopyReport, error) {
	first := map[string]int{}
	for _, f := range r.spool.files {
		first[f.source] = f.row
	}
	w := dedup.Rewriting{Inputs: r.inputs, Options: r.reading, FileUnits: r.fileUnits, Threads: r.o.Threads,
		Judge: func(f document.File, _ int) func(*document.Extractor, document.Unit) (dedup.Verdict, error) {
			row, ok := first[f.Path]
			if !ok {
				row = r.Len()
			}
			return func(x *document.Extractor, u document.Unit) (v dedup.Verdict, err error) {
				if row == r.Len() {
					return v, nil
				}
				h := r.spool.at(row)
				if h.Source != u.Source || h.Line != u.Line {
					return v, nil // it became no document
				}
				row++
				return r.judge(&h, x, u)
			}
		}}
	return w.Copy(ctx, names, meter, create)
}

// judge says what of a document goes, whose unit was read again.
func (r *Result) judge(h *head, x *document.Extractor, u document.Unit) (v dedup.Verdict, err error) {
	cuts := r.Document(h.Row).Cuts
	if len(cuts) == 0 {
		return v, nil
	}
	doc, err := x.Extract(u)
	if err != nil || maphash.String(textSeed, doc.Text) != h.hash {
		return v, dedup.Changed(h.ID)
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
