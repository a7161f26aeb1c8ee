package scan

import (
	"context"
	"iter"

	"ndd/engine/index/radix"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/spill"
)

// A Hit is a row of F within the distance of a row of Q.
type Hit struct {
	Query       uint64 // row of Q
	Distance    int
	Fingerprint uint64
	Row         uint64 // of F
}

// record is a hit in 24 bytes. Records in order of their words are hits in order of a result.
type record = [3]uint64

const recordBytes = 24

func (h *Hit) record() record {
	return record{h.Query<<8 | uint64(h.Distance), h.Fingerprint, h.Row}
}

func hitOf(r record) Hit {
	return Hit{Query: r[0] >> 8, Distance: int(r[0] & 0xff), Fingerprint: r[1], Row: r[2]}
}

// hits sorts hits by row of Q, distance, fingerprint, row of F, and drops repetitions. Beyond its
// memory they go to temporary files.
type hits struct{ *radix.Records[record] }

// newHits returns room for hits of writers goroutines: about bytes of memory, but a few
// KiB each at least, and beyond that files in the folder dir, or that of the system for
// such files where it is empty. Close it when done.
func newHits(d *disk.Disk, dir string, bytes uint64, writers int) *hits {
	buffer := int(min(max(bytes/uint64(max(writers, 1))/sortBytes, 256), 1<<40))
	return &hits{radix.NewRecords(spill.NewRuns[record](d, dir, "hits", buffer*recordBytes), buffer, 1)}
}

// sortBytes is what a record takes while it is sorted: itself and a copy, its first word and a copy, its row, and
// what those are sorted in.
const sortBytes = 2*recordBytes + 2*8 + 4 + 20

// An expander is the sink that writes a hit for every row of a match's query.
type expander struct {
	tables *tables
	first  uint64 // row of Q of the tables' first
	to     *radix.RecordWriter[record]
}

func (e *expander) take(ctx context.Context, matches []match) error {
	for _, m := range matches {
		rows := e.tables.rowsOf(m.Query)
		if len(rows) >= rowsMany && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, row := range rows {
			h := Hit{e.first + uint64(row), int(m.Distance), m.Fingerprint, m.Row}
			if err := e.to.Add(h.record()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *expander) close() { e.to.Close() }

// all yields every hit in order. It ends with an error, after which there is none. All
// writers must be closed.
func (h *hits) all(ctx context.Context) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		n := 0
		for r, err := range h.All() {
			if n++; err == nil && n%4096 == 0 {
				err = ctx.Err()
			}
			if err != nil {
				yield(Hit{}, err)
				return
			}
			if !yield(hitOf(r), nil) {
				return
			}
		}
	}
}
