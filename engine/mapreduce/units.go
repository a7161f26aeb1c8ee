package mapreduce

import (
	"context"
	"fmt"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/passages"
)

// A Units is the job that finds repeated units: lines, paragraphs, or sentences in a row.
//
//	in      a JSON object a line
//	shuffle hash of the unit (22 digits), ID, offset of the first byte (8), end offset (8)
//	out     ID	start offset, end offset, 1 if the unit is kept or 0, ID of the first place, start offset there
//
// The first place is in the document with the first ID, in order of the bytes of the escaped IDs. The reduce holds one
// unit. MinCount and AcrossOnly do not apply, and consecutive windows of sentences are not joined.
type Units struct {
	Document format.Options
	Passages passages.Options
}

// placeDigits is the width of a place in a text.
const placeDigits = 8

func (j Units) mapPart(ctx context.Context, t *task) error {
	return t.eachDocument(ctx, j.Document, func(context.Context) (func(*format.Document, write), error) {
		cut, err := passages.NewCutter(j.Passages)
		return func(d *format.Document, write write) {
			cut(d.Text, func(hash [2]uint64, at passages.Cut) {
				key := appendNumber(appendNumber(nil, hash[0], printDigits), hash[1], printDigits)
				key = append(appendEscaped(key, d.ID), ' ')
				write(hash[0], appendNumber(appendNumber(key, uint64(at.From), placeDigits), uint64(at.To), placeDigits), nil)
			})
		}, err
	})
}

// A span is a part of a document, with the first place of the same unit.
type span struct {
	start, end, isKept uint64 // stays is 1 or 0
	first              []byte // ID
	firstStart         uint64
}

// span writes a span of a document as a result.
func (t *task) span(id []byte, s span) error {
	t.value = fmt.Appendf(t.value[:0], "%d %d %d %s %d", s.start, s.end, s.isKept, s.first, s.firstStart)
	return t.result(id, t.value)
}

func (j Units) reduce(ctx context.Context, t *task) error {
	var hash []byte
	var first span
	alone := false // the unit has only its first place so far, which is not written yet
	return t.distinct(ctx, func(key, _ []byte) error {
		const behind = 1 + 2*placeDigits
		if len(key) <= hashDigits+behind {
			return fmt.Errorf("%.80q is no unit of a document", key)
		}
		id := key[hashDigits : len(key)-behind]
		k := readKey(key)
		k.rest = key[len(key)-2*placeDigits:]
		s := span{start: k.number(placeDigits), end: k.number(placeDigits), first: first.first, firstStart: first.firstStart}
		if err := k.err("unit of a document", 0); err != nil {
			return err
		}
		if string(hash) != string(key[:hashDigits]) {
			hash, alone = append(hash[:0], key[:hashDigits]...), true
			first = span{s.start, s.end, 1, append(first.first[:0], id...), s.start}
			t.counters.add(groups, 1)
			return nil
		}
		if alone {
			alone = false
			if err := t.span(first.first, first); err != nil {
				return err
			}
		}
		return t.span(id, s)
	})
}
