package scan

import (
	"context"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/spill"
)

// A Hit is a row of F within the distance of a row of Q.
type Hit struct {
	Query       uint64 // row of Q
	Distance    int
	Fingerprint uint64
	Row         uint64 // row of F
}

// record is a hit in 24 bytes. Records that are sorted by their words are hits in the order of [Answer].
type record = [3]uint64

const recordBytes = 24

func (h *Hit) record() record {
	return record{h.Query<<8 | uint64(h.Distance), h.Fingerprint, h.Row}
}

func hitOf(r record) Hit {
	return Hit{Query: r[0] >> 8, Distance: int(r[0] & 0xff), Fingerprint: r[1], Row: r[2]}
}

// hits sorts hits by row of Q, distance, fingerprint and row of F, and removes repetitions. Hits that
// exceed its memory are in temporary files.
type hits = radix.Records[record]

// newHits returns an empty collection for a number of writer goroutines. bytes is the approximate memory; it takes at
// least some KiB for each writer. Temporary files are in the folder dir; "" means the system's folder for them. The
// caller closes it.
func newHits(d *disk.Disk, dir string, bytes uint64, writers int) *hits {
	buffer := int(min(max(bytes/uint64(max(writers, 1))/sortBytes, 256), 1<<40))
	return radix.NewRecords(spill.NewRuns[record](d, dir, "hits", buffer*recordBytes), buffer, 1)
}

// sortBytes are the bytes of memory that sorting a record takes: the record and a copy, its first word and a
// copy, its row, and the buffers of the sort.
const sortBytes = 2*recordBytes + 2*8 + 4 + 20

// An expander writes a hit for every row of the query of a match. It belongs to one goroutine.
type expander struct {
	tables *tables
	first  uint64 // row of Q of the first query of the tables
	to     *radix.RecordWriter[record]
}

// rowsMany is the number of rows of one query from which on an expander checks the context.
const rowsMany = 256

// take writes the hits of matches. A match represents all rows of Q with its query, which may be most of Q. So take
// checks ctx for a match with rowsMany rows or more.
func (e *expander) take(ctx context.Context, matches []match) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
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
