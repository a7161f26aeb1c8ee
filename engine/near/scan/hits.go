package scan

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

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

// hitOf returns the hit of a record.
func hitOf(r record) Hit {
	return Hit{Query: r[0] >> 8, Distance: int(r[0] & 0xff), Fingerprint: r[1], Row: r[2]}
}

func compareRecords(r, o record) int {
	return cmp.Or(cmp.Compare(r[0], o[0]), cmp.Compare(r[1], o[1]), cmp.Compare(r[2], o[2]))
}

// hits sorts hits by row of Q, distance, fingerprint, row of F, and drops repetitions. Beyond its
// memory it sorts what there is, and writes it to a temporary file as a sorted run (package spill);
// the runs are merged at the end.
//
//	Writer ..buffer full--> sort --> run     Writer ..the rest -----> sort
//	Writer ..buffer full--> sort --> run       `------ merge by All -----'
type hits struct {
	buffer int // records that a writer takes
	runs   *spill.Runs[record]

	mu   sync.Mutex
	left [][]record // sorted, of writers that are closed
}

// Spilled names hits in errors of their temporary files, which are of type [spill.Error].
const Spilled = "hits"

// newHits returns room for hits of writers goroutines: about bytes of memory, but a few
// KiB each at least, and beyond that files in the folder dir, or that of the system for
// such files where it is empty. Close it when done.
func newHits(d *disk.Disk, dir string, bytes uint64, writers int) *hits {
	buffer := int(min(max(bytes/uint64(max(writers, 1))/sortBytes, 256), 1<<40))
	return &hits{buffer: buffer, runs: spill.NewRuns[record](d, dir, Spilled, buffer*recordBytes)}
}

// A hitWriter takes hits of one goroutine.
type hitWriter struct {
	hits    *hits
	records []record
}

// Writer returns a writer, to be closed when it has all hits of its goroutine.
func (h *hits) Writer() *hitWriter { return &hitWriter{hits: h} }

// Add adds a hit. The error is that of a temporary file.
func (w *hitWriter) Add(h Hit) error {
	if len(w.records) == w.hits.buffer {
		w.sort()
		if len(w.records) > w.hits.buffer/2 { // not mostly repetitions
			if err := w.hits.runs.Spill(w.records); err != nil {
				return err
			}
			w.records = w.records[:0]
		}
	}
	if len(w.records) == cap(w.records) {
		// Never twice the buffer, as append would.
		grown := make([]record, len(w.records), min(w.hits.buffer, 2*cap(w.records)+1024))
		copy(grown, w.records)
		w.records = grown
	}
	w.records = append(w.records, h.record())
	return nil
}

// sort sorts the records by the digits of their first number, which few share, and drops
// repetitions: a tenth of the time that comparing takes.
func (w *hitWriter) sort() {
	keys, pairs := make([]uint64, len(w.records)), make([]radix.Pair, len(w.records))
	for i, r := range w.records {
		keys[i] = r[0]
	}
	radix.Pairs(pairs, keys, ^uint64(0), 1)
	sorted := make([]record, len(w.records), cap(w.records))
	for from, i := 0, 0; i < len(sorted); i++ {
		sorted[i] = w.records[pairs[i][1]]
		if i+1 == len(sorted) || pairs[i+1][0] != pairs[i][0] {
			slices.SortFunc(sorted[from:i+1], compareRecords)
			from = i + 1
		}
	}
	w.records = slices.Compact(sorted)
}

// sortBytes is what a record takes while it is sorted.
const sortBytes = 2*recordBytes + 8 + 2*16

// Close hands the remaining records over.
func (w *hitWriter) Close() {
	w.sort()
	w.hits.mu.Lock()
	defer w.hits.mu.Unlock()
	w.hits.left = append(w.hits.left, w.records)
	w.records = nil
}

// An expander is the sink that writes a hit for every row of a match's query.
type expander struct {
	tables *tables
	first  uint64 // row of Q of the tables' first
	to     *hitWriter
}

func (e *expander) take(ctx context.Context, matches []match) error {
	for _, m := range matches {
		rows := e.tables.rowsOf(m.Query)
		if len(rows) >= rowsMany && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, row := range rows {
			if err := e.to.Add(Hit{e.first + uint64(row), int(m.Distance), m.Fingerprint, m.Row}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *expander) close() { e.to.Close() }

// All returns every hit in order. It ends with an error, after which there is none. All
// writers must be closed.
func (h *hits) All(ctx context.Context) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		n := 0
		for r, err := range h.runs.Merge(h.left) {
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

// Close removes the files; it may be called again.
func (h *hits) Close() error {
	h.left = nil
	return h.runs.Close()
}
