package spill

import (
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"unsafe"

	"example.org/ndd/engine/storage/disk"
)

// Runs is a set of sorted runs to merge. [Runs.Spill] is safe for concurrent use. The other methods must not run
// concurrently with Spill.
type Runs[R Record] struct {
	disk        *disk.Disk
	dir, task   string
	bufferBytes int

	mu      sync.Mutex
	runs    []*Run[R]
	spilled atomic.Int64
}

// runsMax is the maximum number of runs to merge at once: each has a buffer and an open file.
const runsMax = 128

// NewRuns returns an empty set of runs. Its files will be in the folder dir, or in the system's default folder for
// temporary files if dir is empty. Messages and the names of the files contain task. The buffers of a merge
// take about memoryBytes, with 4 KiB to 256 KiB for each run.
func NewRuns[R Record](d *disk.Disk, dir, task string, memoryBytes int) *Runs[R] {
	return &Runs[R]{disk: d, dir: dir, task: task, bufferBytes: min(max(memoryBytes/runsMax, 4<<10), 256<<10)}
}

// Bytes returns the number of bytes that were written to files.
func (s *Runs[R]) Bytes() int64 { return s.spilled.Load() }

// Spill writes records, which must be in order, as a run. It merges all runs into one when they reach runsMax.
func (s *Runs[R]) Spill(records []R) error {
	run, err := Create[R](s.disk, s.dir, s.task, s.bufferBytes)
	if err != nil {
		return err
	}
	if err := run.Append(records); err != nil {
		run.Close()
		return err
	}
	return s.add(run)
}

// add takes ownership of a run.
func (s *Runs[R]) add(run *Run[R]) error {
	if err := run.Flush(); err != nil {
		run.Close()
		return err
	}
	s.spilled.Add(int64(run.count) * int64(unsafe.Sizeof(run.last)))
	s.mu.Lock()
	s.runs = append(s.runs, run)
	var inputs []*Run[R]
	if len(s.runs) == runsMax {
		inputs, s.runs = s.runs, nil
	}
	s.mu.Unlock()
	if inputs == nil {
		return nil
	}
	one, err := s.mergeRuns(inputs, nil)
	if err = errors.Join(err, closeAll(inputs)); err != nil {
		one.Close()
		return err
	}
	return s.add(one)
}

// Merged returns a run of all spilled records and of lists in memory. Each list must be in order. The result is in
// order, without duplicates.
func (s *Runs[R]) Merged(lists [][]R) (*Run[R], error) {
	run, err := s.mergeRuns(s.runs, lists)
	if err != nil {
		return nil, errors.Join(err, run.Close())
	}
	return run, nil
}

// mergeRuns merges runs and lists into one run.
func (s *Runs[R]) mergeRuns(runs []*Run[R], lists [][]R) (*Run[R], error) {
	m, err := merge(runs, s.bufferBytes, lists)
	if err != nil {
		return nil, err
	}
	run, err := Create[R](s.disk, s.dir, s.task, s.bufferBytes)
	if err != nil {
		return nil, err
	}
	var errAppend error
	buffer := make([]R, 0, s.bufferBytes/int(unsafe.Sizeof(run.last)))
	err = m.each(func(r R) bool {
		if buffer = append(buffer, r); len(buffer) == cap(buffer) {
			errAppend = run.Append(buffer)
			buffer = buffer[:0]
		}
		return errAppend == nil
	})
	return run, errors.Join(err, errAppend, run.Append(buffer))
}

// Merge yields all spilled records and the records of lists in memory in order, without duplicates. Each list must be
// in order. After an error it yields nothing more.
func (s *Runs[R]) Merge(lists [][]R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		m, err := merge(s.runs, s.bufferBytes, lists)
		if err == nil {
			err = m.each(func(r R) bool { return yield(r, nil) })
		}
		if err != nil {
			var zero R
			yield(zero, err)
		}
	}
}

// Close removes the files. It may be called again.
func (s *Runs[R]) Close() error {
	err := closeAll(s.runs)
	s.runs = nil
	return err
}

func closeAll[R Record](runs []*Run[R]) (err error) {
	for _, r := range runs {
		err = errors.Join(err, r.Close())
	}
	return err
}
