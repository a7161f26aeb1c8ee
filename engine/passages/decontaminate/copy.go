package decontaminate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/result"
)

// Copy reads the inputs again and copies them without the documents that have hits.
func (r *Result) Copy(ctx context.Context, to *rewrite.Target) (rewrite.Report, error) {
	return r.rewrite(ctx, to, nil)
}

// Annotations are the columns that [Result.Annotate] adds to documents.
var Annotations = []result.Column{{Name: "ndd_items", Kind: result.Text, Optional: true},
	{Name: "ndd_score", Kind: result.Real, Optional: true}}

// Annotate copies the inputs as [Result.Copy] does, but with all documents. It adds [Annotations] to each
// document: a list of its hits, and the highest score.
func (r *Result) Annotate(ctx context.Context, to *rewrite.Target) (rewrite.Report, error) {
	return r.rewrite(ctx, to, &rewrite.Fields{Columns: Annotations, Values: r.values})
}

// values returns the values of [Annotations]. A note is the index of a document in hitDocuments plus 1, or 0 if there
// is no hit.
func (r *Result) values(note int) []any {
	if note == 0 {
		return []any{nil, nil}
	}
	type hit struct {
		Set      string  `json:"set"`
		ItemID   string  `json:"item_id"`
		From     int     `json:"from"`
		To       int     `json:"to"`
		FromChar int     `json:"from_char"`
		ToChar   int     `json:"to_char"`
		Score    float64 `json:"score"`
		Answer   bool    `json:"answer"`
	}
	var list []hit
	highest := 0.0
	for _, h := range r.document(&r.hitDocuments[note-1]).Hits {
		highest = max(highest, h.Score)
		list = append(list, hit{r.Sets[h.Item.Set].Name, h.Item.ID, h.From, h.To, h.FromChar, h.ToChar, h.Score, h.Answer})
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings and numbers can be written
	}
	return []any{json.RawMessage(text), highest}
}

// rewrite copies the inputs. It leaves out the documents with hits, or adds fields if fields is not nil.
func (r *Result) rewrite(ctx context.Context, to *rewrite.Target, fields *rewrite.Fields) (rewrite.Report, error) {
	j := rewrite.Job{Inputs: r.inputs, Options: r.readOptions, FileUnits: r.units, Threads: r.threads, Fields: fields}
	j.Judge = func(f input.File, _, _ int) rewrite.Judge {
		next, end := r.fileRanges[f.Path][0], r.fileRanges[f.Path][1]
		judge := rewrite.Judge{Missing: func() int { return end - next }}
		judge.Unit = func(x *format.Extractor, u format.Unit) (v rewrite.Verdict, _ error) {
			if next == end || r.hitDocuments[next].line != u.Line {
				return v, nil
			}
			doc, err := x.Extract(u)
			if err != nil || xxhash.Sum64String(doc.Text) != r.hitDocuments[next].hash {
				return v, nil // another document of a JSON list on the same line, or the document has changed
			}
			next++
			return rewrite.Verdict{Drop: true, Note: next}, nil
		}
		if first := next; fields == nil {
			judge.Decision = func(hash io.Writer) {
				for i := first; i < end; i++ {
					fmt.Fprintln(hash, r.hitDocuments[i].line, r.hitDocuments[i].hash)
				}
			}
		}
		return judge
	}
	return j.Copy(ctx, to)
}
