package work

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/storage/store"
)

// The bits of an entry's head.
const (
	hasSkip = 1 << iota
	hasPrint
	hasValues
	hasSource // another source than the document before
	isUnit
	noID
	hasPayload
	hasSketch
)

// A skipEntry is a skip with the text of its error.
type skipEntry struct {
	input.Skip
	Err string `json:",omitempty"`
}

// appendEntry appends an entry after a document with the given source, or "" for the first:
//
//	head | skip: JSON
//	head | ID, source, values, hash, fingerprint, sketch, features, bytes of text, modified, line, repaired, charset,
//	       payload
//
// Texts begin with their lengths. The head says whether there is a source, values, a fingerprint, a sketch and a
// payload.
func appendEntry(b []byte, e *ingest.Entry, source string) []byte {
	// Write the flags, which show the fields that follow.
	head := bit(e.Skip != nil, hasSkip) | bit(e.OK, hasPrint) | bit(e.Values != nil, hasValues) |
		bit(e.Source != source, hasSource) | bit(e.IsUnit, isUnit) | bit(e.NoID, noID) |
		bit(len(e.Payload) > 0, hasPayload) | bit(!e.Sketch.IsZero(), hasSketch)
	b = append(b, head)
	// A skip is all of its entry.
	if e.Skip != nil {
		s := skipEntry{Skip: *e.Skip}
		if s.Skip.Err = nil; e.Skip.Err != nil {
			s.Err = e.Skip.Err.Error()
		}
		data, _ := json.Marshal(s) // it has strings and integers only
		return store.AppendText(b, string(data))
	}
	// Write the texts. A source is written only if it differs from the previous one.
	b = store.AppendText(b, e.ID)
	if head&hasSource != 0 {
		b = store.AppendText(b, e.Source)
	}
	if head&hasValues != 0 {
		b = binary.AppendUvarint(b, uint64(len(e.Values)))
		for _, v := range e.Values {
			if b = append(b, bit(v.Found, 1)); v.Found {
				b = store.AppendText(b, v.Text)
			}
		}
	}
	// Write the numbers, and the payload at the end.
	b = binary.LittleEndian.AppendUint64(b, e.Hash[0])
	b = binary.LittleEndian.AppendUint64(b, e.Hash[1])
	if head&hasPrint != 0 {
		b = binary.LittleEndian.AppendUint64(b, uint64(e.Fingerprint))
	}
	if head&hasSketch != 0 {
		for _, word := range e.Sketch {
			b = binary.LittleEndian.AppendUint64(b, word)
		}
	}
	for _, n := range []int64{int64(e.Features), int64(e.TextBytes), e.Modified, int64(e.Line), int64(e.Repaired)} {
		b = binary.AppendVarint(b, n)
	}
	if b = store.AppendText(b, e.UnknownCharset); head&hasPayload != 0 {
		b = store.AppendText(b, string(e.Payload))
	}
	return b
}

func bit(set bool, b byte) byte {
	if set {
		return b
	}
	return 0
}

// errEntry is why a work file cannot be decoded.
var errEntry = errors.New("an invalid entry")

type decoder struct {
	store.Fields
	source string // source of the last document
}

func (d *decoder) next() (e ingest.Entry, err error) {
	defer func() {
		if recover() != nil { // lengths that its bytes contradict
			err = errEntry
		}
	}()
	// Read the flags. A skip is all of its entry.
	head := d.Byte()
	e.IsUnit, e.NoID, e.OK = head&isUnit != 0, head&noID != 0, head&hasPrint != 0
	if head&hasSkip != 0 {
		var s skipEntry
		if err := json.Unmarshal(d.Text(), &s); err != nil {
			return e, errEntry
		}
		if s.Err != "" {
			s.Skip.Err = errors.New(s.Err)
		}
		e.Skip = &s.Skip
		return e, nil
	}
	// Read the texts.
	if e.ID = string(d.Text()); head&hasSource != 0 {
		d.source = string(d.Text())
	}
	e.Source = d.source
	if head&hasValues != 0 {
		for range d.Uvarint() {
			if d.Byte() == 1 {
				e.Values = append(e.Values, format.Value{Text: string(d.Text()), Found: true})
			} else {
				e.Values = append(e.Values, format.Value{})
			}
		}
	}
	// Read the numbers and the payload.
	e.Hash = [2]uint64{d.Word(), d.Word()}
	if head&hasPrint != 0 {
		e.Fingerprint = simhash.Fingerprint(d.Word())
	}
	for i := range e.Sketch {
		if head&hasSketch != 0 {
			e.Sketch[i] = d.Word()
		}
	}
	e.Features, e.TextBytes, e.Modified = int(d.Varint()), int(d.Varint()), d.Varint()
	e.Line, e.Repaired = int(d.Varint()), int(d.Varint())
	if e.UnknownCharset = string(d.Text()); head&hasPayload != 0 {
		e.Payload = bytes.Clone(d.Text())
	}
	return e, nil
}
