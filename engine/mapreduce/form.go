package mapreduce

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/near/scan"
	"example.org/ndd/engine/storage/store"
)

// A Form is the format of fingerprints in a map's input.
type Form string

// The forms.
const (
	// 16 hexadecimal digits, a tab, the document's ID: the output of the job fingerprint.
	Lines Form = "lines"
	// Hadoop's stream.map.input=rawbytes of FixedLengthInputFormat: length and key, length and value.
	RawBytes Form = "rawbytes"
)

// A chunk is a part of the fingerprints that a map reads.
type chunk struct {
	source scan.Source // fingerprints in order, from row 0; the source can be used once
	// appendID appends the ID of fingerprint i as a field. It is called only after all fingerprints were read.
	appendID func(dst []byte, i int) ([]byte, error)
}

const (
	// batchPrints is the maximum number of fingerprints in a batch of lines.
	batchPrints = 1 << 20
	// batchBytes is the memory of a batch, with IDs of moderate length and while it grows.
	batchBytes = batchPrints * (8 + 8 + 2*64)
	// rawPrints is the number of raw fingerprints that are searched at a time.
	rawPrints = 1 << 20
	// rawBytes is the memory of raw fingerprints while they are read, wait and are searched.
	rawBytes = 8 * 8 * rawPrints
	// unmarkedKey is the key of a document that is too short to have a fingerprint.
	unmarkedKey = "----------------"
)

// chunks calls each with all fingerprints of a map's input. A chunk is valid until each returns.
func (t *task) chunks(ctx context.Context, each func(chunk) error) error {
	switch t.Form {
	case Lines, "":
		return t.lineChunks(ctx, each)
	case RawBytes:
		r := rawInput{t: t, in: bufio.NewReaderSize(t.In, 1<<18)}
		prints := scan.Walk(func(yield func([]uint64) bool) error { return r.walk(ctx, yield) }, rawPrints)
		return each(chunk{prints, r.appendID})
	}
	return fmt.Errorf("unknown form %q", t.Form)
}

// readBytes returns the maximum memory of chunks.
func (t *task) readBytes() uint64 {
	if t.Form == RawBytes {
		return rawBytes
	}
	return batchBytes
}

// A batch is fingerprints of lines with their IDs.
type batch struct {
	values []uint64
	ids    []byte
	ends   []uint32
}

func (b *batch) appendID(dst []byte, i int) ([]byte, error) {
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return append(dst, b.ids[from:b.ends[i]]...), nil
}

// lineChunks reads the results of the job fingerprint.
func (t *task) lineChunks(ctx context.Context, each func(chunk) error) error {
	// A batch is passed on when it is full.
	var b batch
	flush := func() error {
		defer func() { b.values, b.ids, b.ends = b.values[:0], b.ids[:0], b.ends[:0] }()
		if len(b.values) == 0 {
			return nil
		}
		return each(chunk{scan.Slice(b.values, 0), b.appendID})
	}
	// Parse the fingerprint and the ID of each line.
	err := t.records(ctx, func(r record) error {
		if string(r.key) == unmarkedKey {
			t.counters.add(unmarked, 1)
			return nil
		}
		f, err := simhash.Parse(string(r.key))
		if err != nil {
			return badf("%w", err)
		}
		id, _, _ := bytes.Cut(r.value, []byte(" "))
		if len(id) == 0 {
			id = []byte(`\e`)
		}
		t.counters.add(fingerprints, 1)
		b.values, b.ids = append(b.values, uint64(f)), append(b.ids, id...)
		b.ends = append(b.ends, uint32(len(b.ids)))
		if len(b.values) >= batchPrints || len(b.ids) >= batchPrints*64 {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// A rawInput reads records of Hadoop's rawbytes. All of them are one chunk, because a search has a
// fixed cost.
type rawInput struct {
	t          *task
	in         *bufio.Reader
	key, value []byte
	runs       []rawRun
	records    int
	n          int // fingerprints
}

// A rawRun is a run of fingerprints with consecutive rows. Usually there is one run.
type rawRun struct {
	first int    // index of the first fingerprint in the input
	row   uint64 // row of the first fingerprint
}

// walk calls yield with the fingerprints of each record.
func (r *rawInput) walk(ctx context.Context, yield func([]uint64) bool) error {
	for ; ; r.records++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", r.records, err)
		}
		r.t.counters.add(recordsIn, 1)
		r.t.counters.add(bytesIn, int64(len(r.value)))
		if i := len(r.runs) - 1; i < 0 || r.runs[i].row+uint64(r.n-r.runs[i].first) != row {
			r.runs = append(r.runs, rawRun{r.n, row})
		}
		prints := store.Uint64s(r.value)
		r.n += len(prints)
		r.t.counters.add(fingerprints, int64(len(prints)))
		if len(prints) > 0 && !yield(prints) {
			return nil
		}
	}
}

// errCut is the error of an input that ends within a record.
var errCut = fmt.Errorf("%w: cut in the middle", store.ErrCorrupt)

// next reads a record and returns the row of its first fingerprint. Its error is [io.EOF] after the
// last record.
func (r *rawInput) next() (row uint64, err error) {
	if r.key, err = rawField(r.in, r.key); err != nil {
		return 0, err
	}
	if len(r.key) != 8 {
		return 0, fmt.Errorf("%w: a key of %d bytes, not the offset that FixedLengthInputFormat gives",
			store.ErrCorrupt, len(r.key))
	}
	r.value, err = rawField(r.in, r.value)
	if err = cutAt(err, io.EOF); err == nil && len(r.value)%8 != 0 {
		err = fmt.Errorf("%w: %d bytes are no fingerprints of 8 bytes", errCut, len(r.value))
	}
	return binary.BigEndian.Uint64(r.key) / 8, err
}

// rawField reads a field after its length. It returns [io.EOF] only at the end of the input.
func rawField(in io.Reader, buffer []byte) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return buffer, cutAt(err, io.ErrUnexpectedEOF)
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > lineMax {
		return buffer, fmt.Errorf("%w: a field of %d bytes: not Hadoop's rawbytes", store.ErrCorrupt, n)
	}
	buffer = slices.Grow(buffer[:0], int(n))[:n]
	_, err := io.ReadFull(in, buffer)
	return buffer, cutAt(cutAt(err, io.EOF), io.ErrUnexpectedEOF)
}

// cutAt returns errCut if err is end, and otherwise err.
func cutAt(err, end error) error {
	if errors.Is(err, end) {
		return errCut
	}
	return err
}

// appendID appends the row of fingerprint i, after the name of the file and a colon if the name is
// known.
func (r *rawInput) appendID(dst []byte, i int) ([]byte, error) {
	run := r.runs[sort.Search(len(r.runs), func(at int) bool { return r.runs[at].first > i })-1]
	if r.t.File != "" {
		dst = append(appendEscaped(dst, r.t.File), ':')
	}
	return strconv.AppendUint(dst, run.row+uint64(i-run.first), 10), nil
}
