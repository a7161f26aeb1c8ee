package format

import (
	"bytes"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Unit is the bytes of one document in its file. The bytes are never overwritten. Neighbouring lines may share
// memory; see [Unit.Alone].
type Unit struct {
	Source string
	Line   int // from 1, or the number of a WARC record; 0 if the unit is the whole file

	// From and To are the offsets of the unit in the decompressed file: of a line with its end, of a record with the
	// blank lines before it, or of a WARC record with the blank lines after it. Both are 0 if the unit is the whole
	// file.
	From, To int64

	format    Format   // Text, HTML, JSONL, httpResponse; CSV has been taken apart already
	raw       []byte   // the whole file, the line, the text field of a record, or the block of a WARC record
	rawOffset int64    // offset of raw in the decompressed file, unless raw is a copy or from a WARC record
	id        string   // the ID of a record; "" if it has none
	values    []Value  // the values of a record
	fields    *Fields  // the fields of a JSON object
	cells     []string // the cells of a record of a table, before the text is taken from them
	columns   []string // the names of the columns of a table
	modified  int64    // modification time of the file if the unit is the whole file

	contentType string // the Content-Type of a WARC record's block
}

// FieldNames returns the names of the first fields of a line or record. It returns nil for other units.
func (u *Unit) FieldNames() []string {
	if u.format == JSONL {
		return fieldNames(u.raw)
	}
	return u.columns
}

// Size returns the number of bytes that the unit holds.
func (u Unit) Size() int { return len(u.raw) }

// Sum returns the checksum of the unit's bytes, for [Checksum.Add]. Of a record of a table, only the text counts.
func (u *Unit) Sum() uint64 { return xxh3.Hash(u.raw) }

// A Checksum is a checksum of the units of a file. It detects accidents, and is 0 for a file without units.
type Checksum uint64

// Add adds the sum of the next unit.
func (c *Checksum) Add(sum uint64) {
	const odd = 0x9e3779b97f4a7c15 // the golden ratio: a changed sum always changes the checksum
	*c = Checksum((bits.RotateLeft64(uint64(*c), 23) ^ sum) * odd)
}

// Alone returns the unit without the lines that share its memory.
func (u Unit) Alone() Unit {
	if u.Line > 0 && (u.format == JSONL || u.format == Text) {
		u.raw = bytes.Clone(u.raw)
	}
	return u
}

// Value is the content of a field of a line or record: the content of a string, or the digits of a number.
type Value struct {
	Text  string
	Found bool
}

// values returns the values of a record. get returns the value of a field.
func (o *Options) values(get func(field string) Value) (values []Value) {
	for _, fields := range o.ValueFields {
		var v Value
		for i := 0; i < len(fields) && !v.Found; i++ {
			v = get(fields[i])
		}
		values = append(values, v)
	}
	return values
}
