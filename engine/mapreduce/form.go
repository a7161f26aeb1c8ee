package mapreduce

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ndd/engine/corpus/simhash"
	"ndd/engine/near/scan"
	"ndd/engine/storage/store"
)

// A Form is how a map's input holds fingerprints.
type Form string

// The forms.
const (
	Lines    Form = "lines"    // 16 hexadecimal digits, a tab, the document's ID: what the job fingerprint writes
	RawBytes Form = "rawbytes" // Hadoop's stream.map.input=rawbytes of FixedLengthInputFormat: length and key, length and value
	Paths    Form = "paths"    // names of files of fingerprints, a line each, and behind a tab the row of a file's first
	Base64   Form = "base64"   // raw little-endian fingerprints, some a line; before them and a tab the row of the first
)

// Forms are the names of all forms.
var Forms = []string{string(Lines), string(RawBytes), string(Paths), string(Base64)}

// ParseForm returns the form of a name.
func ParseForm(name string) (Form, error) {
	for _, f := range Forms {
		if f == name {
			return Form(f), nil
		}
	}
	return "", fmt.Errorf("%q: must be %s", name, strings.Join(Forms, ", "))
}

// A chunk is a part of the fingerprints that a map reads.
type chunk struct {
	prints scan.Source // in order, the first of which is row 0; it can be used once
	// appendID appends the ID of the i-th as a field. It is called when all of prints were read.
	appendID func(dst []byte, i int) ([]byte, error)
}

const (
	// batchPrints are handed on at a time, where they come some at a time.
	batchPrints = 1 << 20
	// batchBytes is what a batch takes, with IDs of moderate length and while it grows.
	batchBytes = batchPrints * (8 + 8 + 2*64)
	// unmarkedKey stands for the fingerprint of a document that is too short to have one.
	unmarkedKey = "----------------"
)

// chunks calls each with all fingerprints of a map's input. A chunk is good until each returns.
func (t *task) chunks(ctx context.Context, each func(chunk) error) error {
	switch t.Form {
	case Lines, "":
		return t.lineChunks(ctx, each)
	case RawBytes:
		return t.rawChunks(ctx, each)
	case Base64:
		return t.base64Chunks(ctx, each)
	case Paths:
		return t.pathChunks(ctx, each)
	}
	return fmt.Errorf("unknown form %q", t.Form)
}

// readBytes returns the most memory that chunks takes while it reads, beside files that are mapped, or read whole.
func (t *task) readBytes() uint64 {
	if t.Form == Lines || t.Form == "" {
		return batchBytes
	}
	return aheadBytes
}

// sameRecipe adds the recipe of a file of fingerprints to those of the input.
func (t *task) sameRecipe(name string, r *simhash.Recipe) error {
	if err := onePrint(r); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := t.read.add(end{recipe: recipeName(r)}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// A batch is fingerprints that come some at a time, with their IDs where they have any.
type batch struct {
	prints []uint64
	ids    []byte
	ends   []uint32
}

func (b *batch) reset() { b.prints, b.ids, b.ends = b.prints[:0], b.ids[:0], b.ends[:0] }

func (b *batch) full() bool { return len(b.prints) >= batchPrints || len(b.ids) >= batchPrints*64 }

func (b *batch) appendID(dst []byte, i int) ([]byte, error) {
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return append(dst, b.ids[from:b.ends[i]]...), nil
}

// lineChunks reads what the job fingerprint writes.
func (t *task) lineChunks(ctx context.Context, each func(chunk) error) error {
	var b batch
	flush := func() error {
		defer b.reset()
		if len(b.prints) == 0 {
			return nil
		}
		return each(chunk{scan.Slice(b.prints, 0), b.appendID})
	}
	err := t.records(ctx, func(r record) error {
		if string(r.key) == unmarkedKey {
			t.counters.add(unmarked, 1)
			return nil
		}
		f, err := simhash.Parse(string(r.key))
		if err != nil {
			return fmt.Errorf("%w: %w", errBadRecord, err)
		}
		id, _, _ := bytes.Cut(r.value, []byte(" "))
		if len(id) == 0 {
			id = []byte(`\e`)
		}
		t.counters.add(fingerprints, 1)
		b.prints, b.ids = append(b.prints, uint64(f)), append(b.ids, id...)
		if b.ends = append(b.ends, uint32(len(b.ids))); b.full() {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// rawChunks reads records of Hadoop's rawbytes. The key is the offset of the value in its file.
func (t *task) rawChunks(ctx context.Context, each func(chunk) error) error {
	in := bufio.NewReaderSize(t.In, 1<<18)
	var key, value []byte
	n := 0
	next := func() (p rawPart, err error) {
		if key, err = rawField(in, key); err == nil {
			if value, err = rawField(in, value); errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return p, fmt.Errorf("%w: the input ends within record %d: cut in the middle", store.ErrCorrupt, n)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return p, err
		}
		t.counters.add(recordsIn, 1)
		t.counters.add(bytesIn, int64(len(value)))
		if p = (rawPart{raw: value, known: len(key) == 8}); p.known {
			p.first = binary.BigEndian.Uint64(key) / 8
		}
		if len(value)%8 != 0 {
			err = fmt.Errorf("record %d: %w", n, errHalf(value))
		}
		n++
		return p, err
	}
	r := rawInput{t: t, name: t.File, next: next}
	return r.chunks(each)
}

// rawField reads a field behind its length. It returns [io.EOF] only where nothing is left.
func rawField(in io.Reader, buffer []byte) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return buffer, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > lineMax {
		return buffer, fmt.Errorf("%w: a field of %d bytes: not Hadoop's rawbytes", store.ErrCorrupt, n)
	}
	if cap(buffer) < int(n) {
		buffer = make([]byte, n)
	}
	buffer = buffer[:n]
	if _, err := io.ReadFull(in, buffer); err != nil {
		return buffer, io.ErrUnexpectedEOF
	}
	return buffer, nil
}

// base64Chunks reads lines of raw fingerprints.
func (t *task) base64Chunks(ctx context.Context, each func(chunk) error) error {
	in := newLines(t.In)
	var raw []byte
	next := func() (p rawPart, err error) {
		line, err := in.next()
		for err == nil && len(line) == 0 {
			line, err = in.next()
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return p, err
		}
		t.counters.add(recordsIn, 1)
		t.counters.add(bytesIn, int64(len(line))+1)
		row, rest, known := bytes.Cut(line, []byte{'\t'})
		if p.known = known; known {
			if p.first, err = strconv.ParseUint(string(row), 10, 64); err != nil {
				return p, fmt.Errorf("%w: line %d: %.40q is no row", store.ErrCorrupt, in.n, row)
			}
			line = rest
		}
		if raw, err = base64.StdEncoding.AppendDecode(raw[:0], line); err != nil {
			return p, fmt.Errorf("%w: line %d is cut in the middle, or not base64: %w", store.ErrCorrupt, in.n, err)
		}
		if p.raw = raw; len(raw)%8 != 0 {
			err = fmt.Errorf("line %d: %w", in.n, errHalf(raw))
		}
		return p, err
	}
	r := rawInput{t: t, next: next}
	return r.chunks(each)
}
