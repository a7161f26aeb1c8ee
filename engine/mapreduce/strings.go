package mapreduce

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"

	"ndd/engine/corpus/document"
	"ndd/engine/passages"
)

// A Marks is the job that finds the selected hashes of strings that documents have more than once, so that
// [Strings] sends no others. It may find too many, where a part arrives twice.
//
//	in      a JSON object a line
//	shuffle hash (11 digits)
//	out     hash
type Marks struct {
	Document document.Options
	Passages passages.Options
}

// A Strings is the job that finds repeated strings of a number of bytes.
//
// The shuffle carries the text that is compared, some 130 bytes at each selected place for strings of
// 100, which are 3.2 % of all: 6 bytes for each byte of text, or, with the hashes that [Marks] found, of
// each that is repeated. [Spans] joins the results.
//
//	in      a JSON object a line
//	beside  results of Marks; may be missing
//	shuffle hash (11 digits), ID, passages.Mark: From (8), Most, Least (2 each), Inside (1), Around in base 64
//	out     ID	first byte, byte behind the last, 1 if it stays or 0, ID of the first place, its first byte
//
// The first place is that of the first ID, in order of the bytes of its escaped form. The reduce holds
// the places of one hash.
type Strings struct {
	Document document.Options
	Passages passages.Options
	Marks    string // file with the results of Marks; "" if all places are sent
}

// textDigits is base 64 in the digits of numbers.
var textDigits = base64.NewEncoding(digits).WithPadding(base64.NoPadding)

const distanceDigits = 2

func (j Marks) mapPart(ctx context.Context, t *task) error {
	return t.marks(ctx, j.Document, j.Passages, func(m passages.Mark, _ string) []byte {
		return appendNumber(nil, m.Hash, printDigits)
	})
}

func (j Strings) mapPart(ctx context.Context, t *task) error {
	var repeated []uint64
	if j.Marks != "" {
		err := t.side(ctx, j.Marks, func(r record) error {
			h, ok := number(r.key)
			if !ok {
				return fmt.Errorf("%.40q is no hash of the job marks", r.key)
			}
			repeated = append(repeated, h)
			return t.Budget.Check("the hashes in "+j.Marks, 16*uint64(len(repeated)))
		})
		if err != nil {
			return err
		}
		slices.Sort(repeated)
	}
	return t.marks(ctx, j.Document, j.Passages, func(m passages.Mark, id string) []byte {
		if j.Marks != "" {
			if _, found := slices.BinarySearch(repeated, m.Hash); !found {
				return nil
			}
		}
		key := append(appendEscaped(appendNumber(nil, m.Hash, printDigits), id), ' ')
		inside := uint64(0)
		if m.Inside {
			inside = 1
		}
		key = appendNumber(appendNumber(key, uint64(m.From), placeDigits), uint64(m.Most), distanceDigits)
		key = appendNumber(appendNumber(key, uint64(m.Least), distanceDigits), inside, 1)
		return textDigits.AppendEncode(key, []byte(m.Around))
	})
}

// marks sends the keys that a function makes of the marks of documents, none for nil.
func (t *task) marks(ctx context.Context, d document.Options, o passages.Options,
	key func(m passages.Mark, id string) []byte) error {
	return t.eachDocument(ctx, d, func() (func(*document.Document, write), error) {
		find, err := passages.NewMarker(o)
		return func(d *document.Document, write write) {
			find(d.Text, func(m passages.Mark) {
				if k := key(m, d.ID); k != nil {
					write(m.Hash, k, nil)
				}
			})
		}, err
	})
}

func (j Marks) reduce(ctx context.Context, t *task) error {
	var last []byte
	times := 0
	return t.sorted(ctx, func(key, _ []byte) error {
		if !bytes.Equal(key, last) {
			last, times = append(last[:0], key...), 0
			t.counters.add(groups, 1)
		}
		if times++; times != 2 {
			return nil
		}
		return t.result(key, nil)
	})
}

func (j Strings) reduce(ctx context.Context, t *task) error {
	match, err := passages.NewMatcher(j.Passages)
	if err != nil {
		return err
	}
	var group []passages.Mark
	var ids [][]byte
	size := 0
	end := func() error {
		if len(group) < 2 {
			return nil
		}
		t.counters.add(groups, 1)
		return match(group, func(r passages.Repeat) error {
			s := span{from: uint64(r.From), to: uint64(r.To), first: ids[r.First], firstFrom: uint64(r.FirstFrom)}
			if r.First == r.Mark && r.FirstFrom == r.From {
				s.stays = 1
			}
			return t.span(ids[r.Mark], s)
		})
	}
	err = t.distinct(ctx, func(key []byte) error {
		const numbers = placeDigits + 2*distanceDigits + 1
		id, rest, ok := bytes.Cut(key[min(printDigits, len(key)):], []byte(" "))
		if !ok || len(id) == 0 || len(rest) <= numbers {
			return fmt.Errorf("%.80q is no mark of a document", key)
		}
		k := readKey(append(key[:printDigits:printDigits], rest[:numbers]...))
		m := passages.Mark{Hash: k.number(printDigits), From: int(k.number(placeDigits)), Most: int(k.number(distanceDigits)),
			Least: int(k.number(distanceDigits)), Inside: k.number(1) == 1}
		around, err := textDigits.AppendDecode(nil, rest[numbers:])
		if k.err("mark of a document", 0) != nil || err != nil {
			return fmt.Errorf("%.80q is no mark of a document", key)
		}
		if len(group) > 0 && group[0].Hash != m.Hash {
			if err := end(); err != nil {
				return err
			}
			group, ids, size = group[:0], ids[:0], 0
		}
		m.Around = string(around)
		group, ids, size = append(group, m), append(ids, bytes.Clone(id)), size+2*len(around)+len(id)+2*listBytes
		return t.Budget.Check(fmt.Sprintf("the %d places of a hash", len(group)), uint64(size))
	})
	if err != nil {
		return err
	}
	return end()
}

// A Spans is the job that joins the results of [Strings]: those that overlap, and follow each other in
// their first place, too, are one.
//
//	in      results of Strings
//	shuffle ID, first byte (8), byte behind the last (8), whether it stays (1), ID of the first place, its
//	        first byte (8)
//	out     as Strings
type Spans struct{}

func (Spans) mapPart(ctx context.Context, t *task) error {
	return t.records(ctx, func(r record) error {
		var s span
		if _, err := fmt.Sscanf(string(r.value), "%d %d %d %s %d", &s.from, &s.to, &s.stays, &s.first, &s.firstFrom); err != nil {
			return badf("%.80q is no result of the job strings", r.value)
		}
		key := appendNumber(appendNumber(append(slices.Clone(r.key), ' '), s.from, placeDigits), s.to, placeDigits)
		key = appendNumber(append(append(appendNumber(key, s.stays, 1), s.first...), ' '), s.firstFrom, placeDigits)
		return t.send(t.partition(record{key: r.key}.hash()), key, nil)
	})
}

func (Spans) reduce(ctx context.Context, t *task) error {
	var id []byte
	var open []span                    // that may go on
	end := func(before uint64) error { // writes the spans that end before a place
		rest := open[:0]
		for _, s := range open {
			if s.to >= before {
				rest = append(rest, s)
			} else if err := t.span(id, s); err != nil {
				return err
			}
		}
		open = rest
		return nil
	}
	err := t.distinct(ctx, func(key []byte) error {
		of, rest, _ := bytes.Cut(key, []byte(" "))
		k := readKey(rest)
		s := span{from: k.number(placeDigits), to: k.number(placeDigits), stays: k.number(1)}
		first, place, ok := bytes.Cut(k.rest, []byte(" "))
		k.rest, s.first = place, bytes.Clone(first)
		s.firstFrom = k.number(placeDigits)
		if !ok || k.err("span", 0) != nil {
			return fmt.Errorf("%.80q is no span of a document", key)
		}
		if !bytes.Equal(of, id) {
			if err := end(^uint64(0)); err != nil {
				return err
			}
			id = append(id[:0], of...)
		}
		if err := end(s.from); err != nil {
			return err
		}
		for i := range open {
			o := &open[i]
			if o.stays == s.stays && bytes.Equal(o.first, s.first) && o.firstFrom-o.from == s.firstFrom-s.from {
				o.to = max(o.to, s.to)
				return nil
			}
		}
		open = append(open, s)
		return nil
	})
	if err != nil {
		return err
	}
	return end(^uint64(0))
}
