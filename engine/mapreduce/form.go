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
	"path"
	"strconv"
	"strings"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
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
	prints []uint64
	// appendID appends the ID of the i-th as a field.
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
		return each(chunk{b.prints, b.appendID})
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
	b := rawBatch{t: t, each: each, name: t.File}
	var key, value []byte
	for n := 0; ; n++ {
		var err error
		if key, err = rawField(in, key); errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return b.flush()
		}
		if err == nil {
			if value, err = rawField(in, value); errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: the input ends within record %d: cut in the middle", store.ErrCorrupt, n)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		t.counters.add(recordsIn, 1)
		t.counters.add(bytesIn, int64(len(value)))
		var first uint64
		known := len(key) == 8
		if known {
			first = binary.BigEndian.Uint64(key) / 8
		}
		if err := b.add(value, first, known); err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
	}
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
	b := rawBatch{t: t, each: each}
	var raw []byte
	in := newLines(t.In)
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			return b.flush()
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		t.counters.add(recordsIn, 1)
		t.counters.add(bytesIn, int64(len(line))+1)
		var first uint64
		row, rest, known := bytes.Cut(line, []byte{'\t'})
		if known {
			if first, err = strconv.ParseUint(string(row), 10, 64); err != nil {
				return fmt.Errorf("%w: line %d: %.40q is no row", store.ErrCorrupt, in.n, row)
			}
			line = rest
		}
		if raw, err = base64.StdEncoding.AppendDecode(raw[:0], line); err != nil {
			return fmt.Errorf("%w: line %d is cut in the middle, or not base64: %w", store.ErrCorrupt, in.n, err)
		}
		if err := b.add(raw, first, known); err != nil {
			return fmt.Errorf("line %d: %w", in.n, err)
		}
	}
}

// pathChunks reads the files that the input names.
func (t *task) pathChunks(ctx context.Context, each func(chunk) error) error {
	return t.paths(ctx, func(name string, first uint64, numbered bool) error {
		f, err := t.openPrints(ctx, name)
		if err != nil {
			return err
		}
		defer f.Close()
		if s := f.Store(); s != nil {
			if err := s.Verify(ctx, t.Threads, nil); err != nil {
				return err
			}
		}
		if err := t.sameRecipe(name, f.Recipe()); err != nil {
			return err
		}
		id := rowID("", first)
		if !numbered {
			id = rowID(path.Base(name), 0)
		}
		if f.HasIDs() {
			ids := f.Lookup()
			id = func(dst []byte, i int) ([]byte, error) {
				s, err := ids.ID(uint64(i))
				return appendEscaped(dst, s), err
			}
		}
		defer func() { t.counters.add(fingerprints, int64(f.Len())) }()
		if f.Len() == 0 {
			return nil
		}
		return each(chunk{f.Fingerprints(), id})
	})
}

// paths calls each with the paths of a map's input. What a framework puts before a line, its offset, is passed over.
func (t *task) paths(ctx context.Context, each func(name string, first uint64, numbered bool) error) error {
	in := newLines(t.In)
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fields := strings.Split(string(line), "\t")
		if _, err := strconv.ParseUint(fields[0], 10, 64); err == nil && len(fields) > 1 && strings.Contains(fields[1], "/") {
			fields = fields[1:]
		}
		if fields[0] == "" {
			continue
		}
		t.counters.add(recordsIn, 1)
		first, numbered := uint64(0), len(fields) > 1 && fields[1] != ""
		if numbered {
			if first, err = strconv.ParseUint(fields[1], 10, 64); err != nil {
				return fmt.Errorf("line %d: %.40q is not the row of a file's first fingerprint", in.n, fields[1])
			}
		}
		if t.Status != nil {
			t.Status("reading " + fields[0])
		}
		if err := each(fields[0], first, numbered); err != nil {
			return fmt.Errorf("line %d: %w", in.n, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// openPrints opens a file of fingerprints: here, or by WebHDFS.
func (t *task) openPrints(ctx context.Context, name string) (*ndf.File, error) {
	if !isRemote(name) {
		return ndf.Open(name)
	}
	r, length, err := t.openRemote(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	reserved, err := t.reserve("reading "+name, 2*length)
	if err != nil {
		return nil, err
	}
	defer reserved.Release() // of the buffers that grow; what stays is a chunk's
	return ndf.Read(r, name)
}
