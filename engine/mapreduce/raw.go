package mapreduce

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"ndd/engine/storage/store"
)

// A rawBatch is raw fingerprints that come in records or lines, some at a time, and are searched a chunk at a time: what a search
// costs for a chunk is much for few fingerprints.
type rawBatch struct {
	t      *task
	each   func(chunk) error
	name   string // before a row, of the file; may be empty
	prints []uint64
	runs   []rawRun
}

// A rawRun is fingerprints of a batch, from one on, whose rows follow each other.
type rawRun struct {
	from  int    // in the batch
	first uint64 // row, if it is known
	known bool
}

// rawRunsMax bounds the runs of a batch, should rows not follow each other.
const rawRunsMax = 1 << 16

// add adds little-endian fingerprints, the row of whose first one may be known, and hands the batch on when it is full.
func (b *rawBatch) add(raw []byte, first uint64, known bool) error {
	if len(raw)%8 != 0 {
		return fmt.Errorf("%w: %d bytes are no fingerprints of 8 bytes: cut in the middle", store.ErrCorrupt, len(raw))
	}
	b.t.counters.add(fingerprints, int64(len(raw)/8))
	if n := len(b.runs); n == 0 || !b.runs[n-1].goesOn(len(b.prints), first, known) {
		b.runs = append(b.runs, rawRun{len(b.prints), first, known})
	}
	if n := len(raw) / 8; cap(b.prints)-len(b.prints) < n { // append alone would copy five times as much
		b.prints = slices.Grow(b.prints, min(max(n, len(b.prints)), ChunkPrints-len(b.prints)+n))
	}
	for ; len(raw) > 0; raw = raw[8:] {
		b.prints = append(b.prints, binary.LittleEndian.Uint64(raw))
	}
	if len(b.prints) >= ChunkPrints || len(b.runs) >= rawRunsMax {
		return b.flush()
	}
	return nil
}

// goesOn reports whether a fingerprint of the batch and its row follow those of the run.
func (r *rawRun) goesOn(at int, row uint64, known bool) bool {
	return r.known == known && (!known || r.first+uint64(at-r.from) == row)
}

// flush hands on what there is.
func (b *rawBatch) flush() error {
	if len(b.prints) == 0 {
		return nil
	}
	err := b.each(chunk{b.prints, b.appendID})
	b.prints, b.runs = b.prints[:0], b.runs[:0]
	return err
}

// appendID appends the row of the i-th, behind the name if there is one, or what stands for none.
func (b *rawBatch) appendID(dst []byte, i int) ([]byte, error) {
	at, found := slices.BinarySearchFunc(b.runs, i, func(r rawRun, i int) int { return r.from - i })
	if !found {
		at--
	}
	r := &b.runs[at]
	if !r.known {
		return append(dst, noID...), nil
	}
	return rowID(b.name, r.first)(dst, i-r.from)
}

// rowID returns a function that appends the row of the i-th fingerprint, behind a name if there is one.
func rowID(name string, first uint64) func([]byte, int) ([]byte, error) {
	return func(dst []byte, i int) ([]byte, error) {
		if name != "" {
			dst = append(appendEscaped(dst, name), ':')
		}
		return strconv.AppendUint(dst, first+uint64(i), 10), nil
	}
}

// noID is the field of a fingerprint of which neither ID nor row is known.
const noID = "-"
