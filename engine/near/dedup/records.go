package dedup

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"sync/atomic"
	"unsafe"

	"example.org/ndd/engine/storage/spill"
	"example.org/ndd/engine/storage/store"
)

// A record is the part of a document that no comparison of fingerprints needs.
type record struct {
	id     string
	place  Place
	length uint32   // length of its text
	values []string // values for the policies, "" for a value that is no string; nil if none is a string
}

// records are the records of all documents, in order:
//
//	text    | head, ID, file, values, row, length | ...
//	offsets | offset of the record of row 0 | of row 1 | ...
//
// A record contains the file, unless the file is the ID or the file of the previous record. In the latter case it
// contains the distance in the text to an earlier copy of the file.
type records struct {
	text    spill.Column[byte]
	offsets spill.Column[uint64]

	anyText []byte // with anyAt: text and offsets, which can be read in any order after the records have ended
	anyAt   []uint64
	reads   atomic.Uint32 // number of these reads

	file   string // file of the previous record
	fileAt int
	line   []byte // buffer for a record
}

// Mapped pages count as memory of the process. The pages are released each time after this number of reads:
const (
	bytesMapped = 64 << 20 // bytes of records that were read in order
	readsMapped = 1 << 12  // single records; each maps up to 64 KiB around the record and around its offset
)

// The lowest bits of a record's head.
const (
	recordIsFile = 1 << iota
	recordFile
	recordSameFile
	recordValues
)

// append adds a record. It returns a [spill.Error].
func (f *records) append(r record) error {
	head, begin := byte(0), f.text.Len()
	b := store.AppendText(append(f.line[:0], 0), r.id)
	switch r.place.File {
	case "":
	case r.id:
		head = recordIsFile
	case f.file:
		head = recordSameFile
		b = binary.AppendUvarint(b, uint64(begin-f.fileAt))
	default:
		head = recordFile
		f.file, f.fileAt = r.place.File, begin+len(b)
		b = store.AppendText(b, r.place.File)
	}
	if slices.ContainsFunc(r.values, func(v string) bool { return v != "" }) {
		head |= recordValues
		b = binary.AppendUvarint(b, uint64(len(r.values)))
		for _, v := range r.values {
			b = store.AppendText(b, v)
		}
	}
	b = binary.AppendUvarint(b, uint64(r.place.Row))
	b = binary.AppendUvarint(b, uint64(r.length))
	f.line = b
	b[0] = head
	return cmp.Or(f.offsets.Append(uint64(begin)), f.text.AppendAll(b))
}

// end makes the records readable. The columns must have ended before.
func (f *records) end() (err error) {
	if f.anyText, err = f.text.Random(); err == nil {
		f.anyAt, err = f.offsets.Random()
	}
	return err
}

// record returns the record of a row, or an empty one if there are no records. Its strings are valid until the corpus
// is closed.
func (f *records) record(row Row) (r record) {
	if len(f.anyAt) > 0 {
		if f.reads.Add(1)%readsMapped == 0 {
			f.text.DontNeed()
			f.offsets.DontNeed()
		}
		r, _ = readRecord(f.anyText, int(f.anyAt[row]))
	}
	return r
}

// iterate yields the records of the first n rows, each with its row.
func (f *records) iterate(n Row) iter.Seq2[Row, record] {
	return func(yield func(Row, record) bool) {
		offset := 0
		for row := range min(n, Row(len(f.anyAt))) {
			r, next := readRecord(f.text.All, offset)
			if !yield(row, r) {
				return
			}
			if offset/bytesMapped != next/bytesMapped {
				f.text.DontNeed()
			}
			offset = next
		}
	}
}

// readRecord returns the record at an offset of the text of records, and the offset of the next one.
func readRecord(text []byte, offset int) (r record, next int) {
	head, fields := text[offset], store.Fields(text[offset+1:])
	r.id = asString(fields.Text())
	switch {
	case head&recordIsFile != 0:
		r.place.File = r.id
	case head&recordFile != 0:
		r.place.File = asString(fields.Text())
	case head&recordSameFile != 0:
		file := store.Fields(text[offset-int(fields.Uvarint()):])
		r.place.File = asString(file.Text())
	}
	if head&recordValues != 0 {
		r.values = make([]string, fields.Uvarint())
		for i := range r.values {
			r.values[i] = asString(fields.Text())
		}
	}
	r.place.Row, r.length = int64(fields.Uvarint()), uint32(fields.Uvarint())
	return r, len(text) - len(fields)
}

// asString returns a string that shares the memory of the records.
func asString(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }
