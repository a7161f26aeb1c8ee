package radix

import (
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"

	"example.org/ndd/engine/storage/spill"
)

// Records sorts records of several words and drops repetitions. The records need not fit in memory. A full writer
// sorts its records and writes them as a run (package spill). The runs are merged when the records are read:
//
//	Writer ..full--> sort --> run     Writer ..the rest -----> sort
//	Writer ..full--> sort --> run       `------ merge by All -----'
type Records[R spill.Record] struct {
	runs    *spill.Runs[R]
	limit   int // maximum number of records of a writer in memory
	threads int // number of threads that sort the records of one writer

	mu    sync.Mutex
	lists [][]R // sorted lists of closed writers
}

// NewRecords returns an empty set of records. Each writer holds up to room records in memory, at most two billion,
// and writes more of them to runs.
func NewRecords[R spill.Record](runs *spill.Runs[R], room, threads int) *Records[R] {
	return &Records[R]{runs: runs, limit: min(room, math.MaxInt32), threads: threads}
}

// A RecordWriter collects the records of one goroutine.
type RecordWriter[R spill.Record] struct {
	records *Records[R]
	list    []R
}

// Writer returns a writer for one goroutine. Close it after the last record.
func (s *Records[R]) Writer() *RecordWriter[R] { return &RecordWriter[R]{records: s} }

// Add adds a record. It fails if a temporary file fails.
func (w *RecordWriter[R]) Add(r R) error {
	if len(w.list) == w.records.limit {
		w.sort()
		if len(w.list) > w.records.limit/2 { // few repetitions
			if err := w.records.runs.Spill(w.list); err != nil {
				return err
			}
			w.list = w.list[:0]
		}
	}
	if len(w.list) == cap(w.list) {
		// Unlike append, never allocate twice the space.
		list := make([]R, len(w.list), min(w.records.limit, 2*cap(w.list)+1024))
		copy(list, w.list)
		w.list = list
	}
	w.list = append(w.list, r)
	return nil
}

// Close passes on the remaining records.
func (w *RecordWriter[R]) Close() {
	if len(w.list) == 0 {
		return
	}
	w.sort()
	w.records.mu.Lock()
	defer w.records.mu.Unlock()
	w.records.lists = append(w.records.lists, w.list)
	w.list = nil
}

// sort sorts the records by the digits of their first word, which is nearly unique, and drops repetitions. It takes a
// tenth of the time of a comparison sort.
func (w *RecordWriter[R]) sort() {
	keys, total := make([]uint64, len(w.list)), uint64(0)
	for i := range w.list {
		keys[i] = spill.Words(&w.list[i])[0]
		total |= keys[i]
	}
	// Leading zeros that all keys share would leave most buckets empty.
	mask := ^uint64(0) >> bits.LeadingZeros64(total)
	first, indexes := make([]uint64, len(keys)), make([]uint32, len(keys))
	Rows(first, indexes, keys, max(mask, 1), w.records.threads)
	sorted := make([]R, len(w.list), cap(w.list))
	compare := func(a, b R) int { return slices.Compare(spill.Words(&a)[1:], spill.Words(&b)[1:]) }
	start := 0 // start of the records with one key
	for i, index := range indexes {
		sorted[i] = w.list[index]
		if i+1 < len(first) && first[i+1] == first[i] {
			continue
		}
		if equal := sorted[start : i+1]; len(equal) > 1 && !slices.IsSortedFunc(equal, compare) {
			slices.SortFunc(equal, compare)
		}
		start = i + 1
	}
	w.list = slices.Compact(sorted)
}

// All yields every distinct record in order. It stops after an error. All writers must be closed.
func (s *Records[R]) All() iter.Seq2[R, error] { return s.runs.Merge(s.lists) }

// Run returns a run of every distinct record in order. All writers must be closed.
func (s *Records[R]) Run() (*spill.Run[R], error) { return s.runs.Merged(s.lists) }

// Close removes the files. It may be called again.
func (s *Records[R]) Close() error {
	s.lists = nil
	return s.runs.Close()
}
