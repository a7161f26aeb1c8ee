package scan

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"ndd/engine/index/radix"
	"ndd/engine/storage/disk"
)

// A Hit is a line of the result.
type Hit struct {
	Query       uint64 // row of Q
	Distance    int
	Fingerprint uint64
	Row         uint64 // of F
}

// record is a hit in 24 bytes, whose order as numbers is that of the result.
type record [3]uint64

const recordBytes = 24

func (h *Hit) record() record {
	return record{h.Query<<8 | uint64(h.Distance), h.Fingerprint, h.Row}
}

func (r record) hit() Hit {
	return Hit{Query: r[0] >> 8, Distance: int(r[0] & 0xff), Fingerprint: r[1], Row: r[2]}
}

func (r record) compare(o record) int {
	return cmp.Or(cmp.Compare(r[0], o[0]), cmp.Compare(r[1], o[1]), cmp.Compare(r[2], o[2]))
}

// hits puts hits in order, row of Q, distance, fingerprint, row of F, each once. Beyond
// its memory it sorts what there is, writes it to a temporary file as a run, and merges
// the runs at the end.
//
//	Writer ..buffer full--> sort --> run     Writer ..what is left--> sort
//	Writer ..buffer full--> sort --> run       `------ merge by All -----'
type hits struct {
	dir    string
	buffer int        // records that a writer takes
	disk   *disk.Disk // that dir is on

	mu    sync.Mutex
	runs  []*run
	left  [][]record // sorted, of writers that are closed
	spilt atomic.Int64
}

// runsMax is how many runs are merged at a time.
const runsMax = 128

// newHits makes room for hits of writers goroutines: about bytes of memory, but a few
// KiB each at least, and beyond that files in the folder dir, or that of the system for
// such files where it is empty. Close it when done.
func newHits(dir string, bytes uint64, writers int) *hits {
	return &hits{dir: dir, buffer: int(min(max(bytes/uint64(max(writers, 1))/sortBytes, 256), 1<<40))}
}

// Spilt is how many bytes went to files so far.
func (h *hits) Spilt() int64 { return h.spilt.Load() }

// A hitWriter takes hits of one goroutine.
type hitWriter struct {
	hits    *hits
	records []record
}

// Writer makes a writer, to be closed when it has all.
func (h *hits) Writer() *hitWriter { return &hitWriter{hits: h} }

// Add takes a hit. It fails only where a file does.
func (w *hitWriter) Add(h Hit) error {
	if len(w.records) == w.hits.buffer {
		w.sort()
		if len(w.records) > w.hits.buffer/2 { // not mostly repetitions
			if err := w.hits.spill(slices.Values(w.records)); err != nil {
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

// sort puts the records in order, each once: many by the digits of their first number,
// which few share, a tenth of the time that comparing takes.
func (w *hitWriter) sort() {
	if len(w.records) < radixLeast {
		slices.SortFunc(w.records, record.compare)
		w.records = slices.Compact(w.records)
		return
	}
	keys, pairs := make([]uint64, len(w.records)), make([]radix.Pair, len(w.records))
	for i, r := range w.records {
		keys[i] = r[0]
	}
	radix.Pairs(pairs, keys, ^uint64(0), 1)
	sorted := make([]record, len(w.records), cap(w.records))
	for from, i := 0, 0; i < len(sorted); i++ {
		sorted[i] = w.records[pairs[i][1]]
		if i+1 == len(sorted) || pairs[i+1][0] != pairs[i][0] {
			if i > from {
				slices.SortFunc(sorted[from:i+1], record.compare)
			}
			from = i + 1
		}
	}
	w.records = slices.Compact(sorted)
}

const (
	// radixLeast records are sorted by digits.
	radixLeast = 1 << 16
	// sortBytes is what a record takes while it is sorted by digits.
	sortBytes = 2*recordBytes + 8 + 2*16
)

// Close hands over what is left.
func (w *hitWriter) Close() {
	w.sort()
	w.hits.mu.Lock()
	defer w.hits.mu.Unlock()
	w.hits.left = append(w.hits.left, w.records)
	w.records = nil
}

// An expander makes a hit of every row of a match's query.
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

// A run is a temporary file of records in order.
type run struct {
	file  *disk.Temp
	bytes int64
}

// spill writes a run, and merges all of them into one where they have become many.
func (h *hits) spill(records iter.Seq[record]) error {
	file, err := h.disk.Temp(h.dir, "hits")
	if err != nil {
		return fmt.Errorf("a temporary file for hits: %w", err)
	}
	r := &run{file: file}
	w := bufio.NewWriterSize(file, h.fileBuffer())
	var b [recordBytes]byte
	for rec := range records {
		for i, v := range rec {
			binary.LittleEndian.PutUint64(b[8*i:], v)
		}
		if _, err = w.Write(b[:]); err != nil {
			break
		}
		r.bytes += recordBytes
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		file.Close()
		return fmt.Errorf("hits beyond memory: %w: --temp names another folder for them", err)
	}
	h.spilt.Add(r.bytes)
	h.mu.Lock()
	h.runs = append(h.runs, r)
	var full []*run
	if len(h.runs) == runsMax {
		full, h.runs = h.runs, nil
	}
	h.mu.Unlock()
	if full == nil {
		return nil
	}
	m, err := h.merge(full, nil)
	if err == nil {
		err = h.spill(m.all())
	}
	if m != nil && err == nil {
		err = m.err
	}
	for _, r := range full {
		err = cmp.Or(err, r.file.Close())
	}
	return err
}

// fileBuffer is the size of a buffer of a run: small where memory is.
func (h *hits) fileBuffer() int {
	return min(max(h.buffer*recordBytes/runsMax, 4<<10), 256<<10)
}

// All is every hit in order. It ends with an error, after which there is none. All
// writers must be closed.
func (h *hits) All(ctx context.Context) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		m, err := h.merge(h.runs, h.left)
		if err != nil {
			yield(Hit{}, err)
			return
		}
		n := 0
		for r := range m.all() {
			if n++; n%4096 == 0 && ctx.Err() != nil {
				yield(Hit{}, ctx.Err())
				return
			}
			if !yield(r.hit(), nil) {
				return
			}
		}
		if m.err != nil {
			yield(Hit{}, m.err)
		}
	}
}

// Close gives the files back; it may be called again.
func (h *hits) Close() (err error) {
	for _, r := range h.runs {
		err = cmp.Or(err, r.file.Close())
	}
	h.runs, h.left = nil, nil
	return err
}

// merger merges sorted records, of files and in memory, and drops repetitions.
type merger struct {
	heads []head // a heap by their first records
	err   error
}

// head is a source of records with the next one.
type head struct {
	next   record
	rest   []record      // in memory
	reader *bufio.Reader // of a file, or nil
}

func (h *hits) merge(runs []*run, left [][]record) (*merger, error) {
	m := new(merger)
	for _, r := range runs {
		section := io.NewSectionReader(r.file.File(), 0, r.bytes)
		m.push(head{reader: bufio.NewReaderSize(section, h.fileBuffer())})
	}
	for _, l := range left {
		m.push(head{rest: l})
	}
	heap.Init(m)
	return m, m.err
}

func (m *merger) push(h head) {
	if m.advance(&h) {
		m.heads = append(m.heads, h)
	}
}

// advance takes the next record; false at the end.
func (m *merger) advance(h *head) bool {
	if h.reader == nil {
		if len(h.rest) == 0 {
			return false
		}
		h.next, h.rest = h.rest[0], h.rest[1:]
		return true
	}
	var b [recordBytes]byte
	if _, err := io.ReadFull(h.reader, b[:]); err != nil {
		if !errors.Is(err, io.EOF) {
			m.err = cmp.Or(m.err, fmt.Errorf("hits beyond memory: %w", err))
		}
		return false
	}
	for i := range h.next {
		h.next[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return true
}

// all is every record, once.
func (m *merger) all() iter.Seq[record] {
	return func(yield func(record) bool) {
		var last record
		for some := false; len(m.heads) > 0 && m.err == nil; {
			next := m.heads[0].next
			if !some || next != last {
				if !yield(next) {
					return
				}
				some, last = true, next
			}
			if m.advance(&m.heads[0]) {
				heap.Fix(m, 0)
			} else {
				heap.Pop(m)
			}
		}
	}
}

func (m *merger) Len() int           { return len(m.heads) }
func (m *merger) Less(i, j int) bool { return m.heads[i].next.compare(m.heads[j].next) < 0 }
func (m *merger) Swap(i, j int)      { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }
func (m *merger) Push(x any)         { m.heads = append(m.heads, x.(head)) }
func (m *merger) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}
