package mapreduce

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"ndd/engine/near/scan"
	"ndd/engine/storage/store"
)

// A rawInput is raw fingerprints that come some at a time: in records, in lines, or over the network. All of them are one chunk, since a
// search costs much for few fingerprints; and a goroutine reads on while they are searched.
type rawInput struct {
	t     *task
	name  string                  // before a row, of the file; may be empty
	next  func() (rawPart, error) // the next part, good until the next call; [io.EOF] behind the last one
	later rawPart                 // the first one of the next chunk, where this chunk has runs enough
	runs  []rawRun                // of the chunk
	n     int                     // fingerprints of the chunk that were read
	ended bool
}

// A rawPart is some little-endian fingerprints, and the row of the first where that is known.
type rawPart struct {
	raw   []byte
	first uint64
	known bool
}

// A rawRun is fingerprints of a chunk, from one on, whose rows follow each other.
type rawRun struct {
	from  int    // in the chunk
	first uint64 // row, if it is known
	known bool
}

const (
	// rawRunsMax bounds the runs of a chunk, should rows not follow each other.
	rawRunsMax = 1 << 16
	// aheadPrints fingerprints are searched at a time, and read in aheadChunks before they are.
	aheadPrints = 1 << 20
	aheadChunks = 4
	// aheadBytes is what they take: those that wait, are read, are handed over and are searched.
	aheadBytes = (aheadChunks + 4) * 8 * aheadPrints
)

// chunks calls each with all of the input.
func (r *rawInput) chunks(each func(chunk) error) error {
	for !r.ended {
		r.n, r.runs = 0, r.runs[:0]
		prints, end := scan.Ahead(scan.Walk(r.walk, aheadPrints), aheadChunks)
		err := each(chunk{prints, r.appendID})
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// walk calls yield with the fingerprints of a chunk.
func (r *rawInput) walk(yield func([]uint64) bool) error {
	for {
		p, err := r.take()
		if errors.Is(err, io.EOF) {
			r.ended = true
			return nil
		}
		if err != nil {
			return err
		}
		prints := store.Uint64s(p.raw)
		if len(prints) == 0 {
			continue
		}
		if n := len(r.runs); n == 0 || !r.runs[n-1].goesOn(r.n, p.first, p.known) {
			if n == rawRunsMax {
				r.later = p
				return nil
			}
			r.runs = append(r.runs, rawRun{r.n, p.first, p.known})
		}
		r.n += len(prints)
		r.t.counters.add(fingerprints, int64(len(prints)))
		if !yield(prints) {
			return nil
		}
	}
}

// take returns the next part.
func (r *rawInput) take() (p rawPart, err error) {
	if p, r.later = r.later, p; p.raw != nil {
		return p, nil
	}
	return r.next()
}

// errHalf returns the error of bytes that are no fingerprints.
func errHalf(raw []byte) error {
	return fmt.Errorf("%w: %d bytes are no fingerprints of 8 bytes: cut in the middle", store.ErrCorrupt, len(raw))
}

// goesOn reports whether a fingerprint of the chunk and its row follow those of the run.
func (r *rawRun) goesOn(at int, row uint64, known bool) bool {
	return r.known == known && (!known || r.first+uint64(at-r.from) == row)
}

// appendID appends the row of the i-th, behind the name if there is one, or what stands for none.
func (r *rawInput) appendID(dst []byte, i int) ([]byte, error) {
	at, found := slices.BinarySearchFunc(r.runs, i, func(r rawRun, i int) int { return r.from - i })
	if !found {
		at--
	}
	run := &r.runs[at]
	if !run.known {
		return append(dst, noID...), nil
	}
	return rowID(r.name, run.first)(dst, i-run.from)
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
