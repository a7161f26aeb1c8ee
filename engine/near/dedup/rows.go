package dedup

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/spill"
)

// A Place is where a document was read.
type Place struct {
	File string // "" where it is not known
	Row  int64  // line, record or row of the file, from 1; 0 where the file is the document
}

// A record is what no comparison of fingerprints needs of a document.
type record struct {
	id     string
	place  Place
	length uint32   // of its text
	values []string // by which to keep, those that are strings and "" for others; nil if none is
	short  bool     // it has too few features for a fingerprint, and no row
}

// value returns a value.
func (r record) value(i int) string {
	if i < len(r.values) {
		return r.values[i]
	}
	return ""
}

// A rowFile holds the records of documents in order, in a temporary file, as soon as they are more
// than a tail of 256 KiB. In memory it has, for each block of records, where it begins:
//
//	blocks  | at, first row | at, first row | ...                16 bytes for 64 records
//	file    | head, ID, file unless it is the one before or the ID, values, row, length | ...
//
// So a record takes a quarter of a byte of memory, and 8 bytes and its ID in the file. Written one
// after the other and read in order, records cost some 100 ns each; one by itself costs a read of
// its block, 1 to 2 us where the system has it in memory.
//
// It may be read by many goroutines, each through a [rowReader], when nothing is appended any more.
type rowFile struct {
	disk    *disk.Disk
	dir     string
	run     *spill.Run[byte] // nil until the tail is full
	tail    []byte           // what follows the run
	spilled int64            // bytes of the run
	blocks  []rowBlock

	rows   Row // with a fingerprint
	shorts int // records without one
	file   string

	readers sync.Pool
	failed  atomic.Pointer[error] // the first error of record
}

// A rowBlock is some records that follow each other. File names are written anew in each.
type rowBlock struct {
	at    int64
	first Row // of the block's rows, or of those behind if it has none
}

const (
	blockRecords = 64
	tailBytes    = 256 << 10
	rowBuffer    = 4 << 10 // of the run, which gets the tail at once
)

// The lowest bits of a record's head. Its file is that of the record before unless they say
// otherwise.
const (
	recordShort = 1 << iota
	recordIsFile
	recordFile
	recordValues
)

// append adds a record. The error is a [spill.Error].
func (f *rowFile) append(r record) error {
	if (int(f.rows)+f.shorts)%blockRecords == 0 {
		f.blocks, f.file = append(f.blocks, rowBlock{f.spilled + int64(len(f.tail)), f.rows}), ""
	}
	head := byte(0)
	if r.short {
		head = recordShort
		f.shorts++
	} else {
		f.rows++
	}
	switch r.place.File {
	case f.file:
	case r.id:
		head |= recordIsFile
	default:
		head |= recordFile
	}
	b := appendText(append(f.tail, head), r.id)
	if head&recordFile != 0 {
		b = appendText(b, r.place.File)
	}
	if slices.ContainsFunc(r.values, func(v string) bool { return v != "" }) {
		b[len(f.tail)] |= recordValues
		b = binary.AppendUvarint(b, uint64(len(r.values)))
		for _, v := range r.values {
			b = appendText(b, v)
		}
	}
	f.file = r.place.File
	b = binary.AppendUvarint(b, uint64(r.place.Row))
	f.tail = binary.AppendUvarint(b, uint64(r.length))
	if len(f.tail) < tailBytes {
		return nil
	}
	return f.spill()
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// spill writes the tail to the file.
func (f *rowFile) spill() (err error) {
	if f.run == nil {
		if f.run, err = spill.Create[byte](f.disk, f.dir, "ids", rowBuffer); err != nil {
			return err
		}
	}
	if err := errors.Join(f.run.Append(f.tail), f.run.Flush()); err != nil {
		return err
	}
	f.spilled += int64(len(f.tail))
	f.tail = f.tail[:0]
	return nil
}

// close gives the file back. It may be called again.
func (f *rowFile) close() error {
	run := f.run
	f.run = nil
	return run.Close()
}

// record returns the record of a row, an empty one where it cannot be read.
func (f *rowFile) record(row Row) record {
	if len(f.blocks) == 0 {
		return record{}
	}
	r, ok := f.readers.Get().(*rowReader)
	if !ok {
		r = &rowReader{rowFile: f}
	}
	defer f.readers.Put(r)
	return f.checked(r.find(row))
}

// checked returns a record, and for an error an empty one, and [Corpus.Err] has it.
func (f *rowFile) checked(r record, err error) record {
	if err != nil {
		f.failed.CompareAndSwap(nil, &err)
		return record{}
	}
	return r
}

// A rowReader reads records. It belongs to one goroutine.
type rowReader struct {
	*rowFile
	block  int    // that is read, from 1; 0: none yet
	next   Row    // whose record is the next one with a fingerprint
	rest   []byte // of the block
	buffer []byte
	place  string // the file of the last record
	recent [recentRecords]struct {
		after Row // the row, and 1; 0: none
		rec   record
	}
}

// recentRecords is how many records a reader remembers, as ID and place of one document are asked for
// one after the other, and those of the document that is kept for several.
const recentRecords = 16

// all yields the records in order. It ends at an error.
func (r *rowReader) all(yield func(record, error) bool) {
	for block := range r.blocks {
		if err := r.load(block); err != nil {
			yield(record{}, err)
			return
		}
		for len(r.rest) > 0 {
			if rec, err := r.read(true); !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// find returns the record of a row. Rows that ascend are read without a search.
func (r *rowReader) find(row Row) (rec record, err error) {
	recent := &r.recent[row%recentRecords]
	if recent.after == row+1 {
		return recent.rec, nil
	}
	at, _ := slices.BinarySearchFunc(r.blocks, row+1, func(b rowBlock, row Row) int { return cmp.Compare(b.first, row) })
	if at != r.block || row < r.next {
		if err := r.load(at - 1); err != nil {
			return rec, err
		}
	}
	for r.next <= row {
		if rec, err = r.read(r.next == row); err != nil {
			return rec, err
		}
	}
	recent.after, recent.rec = row+1, rec
	return rec, nil
}

// load reads a block.
func (r *rowReader) load(block int) error {
	r.block, r.next, r.place, r.rest = 0, r.blocks[block].first, "", nil
	from, to := r.blocks[block].at, r.spilled+int64(len(r.tail))
	if block+1 < len(r.blocks) {
		to = r.blocks[block+1].at
	}
	r.buffer = slices.Grow(r.buffer[:0], int(to-from))
	if n := min(to, r.spilled) - from; n > 0 {
		r.buffer = r.buffer[:n]
		if err := r.run.ReadAt(r.buffer, int(from)); err != nil {
			return err
		}
	}
	if to > r.spilled {
		r.buffer = append(r.buffer, r.tail[max(from-r.spilled, 0):to-r.spilled]...)
	}
	r.rest, r.block = r.buffer, block+1
	return nil
}

// read reads the next record of the block, without its texts unless they are wanted.
func (r *rowReader) read(wanted bool) (rec record, err error) {
	defer func() {
		if recover() != nil { // lengths that its bytes contradict
			err = &spill.Error{What: "ids", Dir: r.dir, Err: io.ErrUnexpectedEOF}
		}
	}()
	head := r.rest[0]
	r.rest = r.rest[1:]
	rec.short = head&recordShort != 0
	id := r.text()
	if wanted {
		rec.id = string(id)
	}
	switch {
	case head&recordIsFile != 0:
		r.place = string(id)
	case head&recordFile != 0:
		r.place = string(r.text())
	}
	if head&recordValues != 0 {
		for range r.number() {
			if value := r.text(); wanted {
				rec.values = append(rec.values, string(value))
			}
		}
	}
	rec.place = Place{r.place, int64(r.number())}
	rec.length = uint32(r.number())
	if !rec.short {
		r.next++
	}
	return rec, nil
}

func (r *rowReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	r.rest = r.rest[size:]
	return n
}

func (r *rowReader) text() []byte {
	n := r.number()
	text := r.rest[:n:n]
	r.rest = r.rest[n:]
	return text
}
