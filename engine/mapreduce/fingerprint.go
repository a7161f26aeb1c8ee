package mapreduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
)

// A Fingerprint is the job that turns documents into fingerprints. It has no reduce.
//
//	in    a JSON object a line
//	out   fingerprint (16 hexadecimal digits, or dashes)	ID, bytes of text, their hash (22 digits), sketch (88, or -); and
//	      the file and the row of the document, with Rows
type Fingerprint struct {
	Document format.Options // format and fields
	Recipe   simhash.Recipe
	Sketches bool // results have sketches
	Rows     bool // the part is the whole file Options.File

	Path string // file with the documents, which is read instead of Options.In; may be empty
}

func (j Fingerprint) mapPart(ctx context.Context, t *task) error {
	// End records name the recipe and the version of sketches.
	t.results.Parts, t.results.Recipe, t.results.Sketch = 1, recipeName(&j.Recipe), "none"
	if j.Sketches {
		t.results.Sketch = strconv.Itoa(sketch.Version)
	}
	var key, value []byte
	// Write a result for each document.
	return t.documents(ctx, j.Document, func(c ingest.Config) (ingest.Report, error) {
		c.Recipe, c.Sketches = j.Recipe, j.Sketches
		return ingest.Run(ctx, []string{cmp.Or(j.Path, input.Stdin)}, c, func(r ingest.Record) error {
			if noID(r.ID) {
				if !j.Rows {
					return t.bad(1, "document "+r.ID, errNoID)
				}
				r.ID = input.Place(t.File, r.Line)
			}
			// The key is the fingerprint.
			key = append(key[:0], unmarkedKey...)
			if r.OK {
				key = append(key[:0], r.Fingerprint.String()...)
				t.counters.add(fingerprints, 1)
			} else {
				t.counters.add(unmarked, 1)
			}
			// The value is the ID, the length and the hash of the text, the sketch and the place.
			value = strconv.AppendInt(append(appendEscaped(value[:0], r.ID), ' '), int64(r.TextBytes), 10)
			value = appendNumber(appendNumber(append(value, ' '), r.Hash[0], printDigits), r.Hash[1], printDigits)
			if value = append(value, ' '); j.Sketches && r.OK {
				value = appendSketch(value, &r.Sketch)
			} else {
				value = append(value, noSketch...)
			}
			if j.Rows {
				value = appendPlace(append(value, ' '), t.File, int64(r.Line))
			}
			return t.result(key, value)
		})
	})
}

// documentBudget is the memory of documents that are read ahead.
const documentBudget = 64 << 20

// documents reads the documents of a map, and counts skipped ones. They are JSON lines unless o names another format.
func (t *task) documents(ctx context.Context, o format.Options,
	read func(ingest.Config) (ingest.Report, error)) error {
	if o.Format == "" || o.Format == format.Auto {
		o.Format = format.JSONL
	}
	c := ingest.Config{Document: o, Threads: t.Threads, Stdin: input.Patient(ctx, t.In), Budget: documentBudget}
	reserved, err := t.Budget.Reserve("reading documents", c.NeedBytes())
	if err != nil {
		return err
	}
	defer reserved.Release()
	report, err := read(c)
	if err != nil {
		return err
	}
	return t.countReport(&report)
}

// noID reports whether the ID is only a line number, which does not identify a document of a part.
func noID(id string) bool { return id == input.Stdin || strings.HasPrefix(id, input.Stdin+":") }

// errNoID is the error of a document without an ID.
var errNoID = errors.New("it has no ID")

// countReport counts read and skipped documents.
func (t *task) countReport(r *ingest.Report) error {
	t.counters.add(recordsIn, int64(r.Units))
	t.counters.add(repaired, int64(r.Repaired))
	t.counters.add(unknownCharset, int64(r.Unknown))
	lost := r.Skipped.Lost()
	if lost == 0 {
		return nil
	}
	for _, s := range r.Skipped.Examples {
		if err := t.bad(1, fmt.Sprintf("document %d of the part", s.Line), s); err != nil {
			return err
		}
	}
	if unlisted := lost - len(r.Skipped.Examples); unlisted > 0 {
		last := r.Skipped.Examples[len(r.Skipped.Examples)-1]
		return t.bad(int64(unlisted), fmt.Sprintf("document %d of the part", last.Line), last)
	}
	return nil
}

// recipeName returns the short form of a recipe for end records: its name, if it has one, and 8
// hexadecimal digits; "" for nil.
func recipeName(r *simhash.Recipe) string {
	if r == nil {
		return ""
	}
	code := fmt.Sprintf("%08x", uint32(xxhash.Sum64String(r.Identity().String())))
	if name := r.Name(); name != "" {
		return strings.ReplaceAll(name, " ", "-") + "-" + code
	}
	return code
}
