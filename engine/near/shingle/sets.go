package shingle

import (
	"fmt"
	"sync"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// Sets are the sets of numbered documents, in memory as far as there is room and then in a
// temporary file. Put and Get may be called from many goroutines, but no Put beside a Get. Close
// it.
type Sets struct {
	mu   sync.Mutex
	room int64 // bytes of memory left
	disk *disk.Disk
	dir  string // of the file
	file *disk.Temp
	end  int64      // of the file
	at   []location // of each set
}

// A location is where a set is.
type location struct {
	held []uint64 // nil if it is in the file
	at   int64
	size int32
}

// NewSets returns room for n sets, of which it holds up to memory bytes in memory. The file is in
// folder dir, by default os.TempDir(), on d, by default the system's disk.
func NewSets(n int, memory int64, dir string, d *disk.Disk) *Sets {
	return &Sets{room: memory, disk: d, dir: dir, at: make([]location, n)}
}

// Add stores another set, which it copies, and returns its number.
func (s *Sets) Add(set []uint64) (i int, err error) {
	l, err := s.store(set)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, l)
	return len(s.at) - 1, err
}

// Put stores set i, which it copies.
func (s *Sets) Put(i int, set []uint64) (err error) {
	s.at[i], err = s.store(set)
	return err
}

// store finds a place for a set.
func (s *Sets) store(set []uint64) (l location, err error) {
	bytes := int64(8 * len(set))
	s.mu.Lock()
	l = location{at: s.end, size: int32(len(set))}
	inFile := s.room < bytes
	if inFile {
		s.end += bytes
		if s.file == nil {
			s.file, err = s.disk.Temp(s.dir, "shingles")
		}
	} else {
		s.room -= bytes
	}
	file := s.file
	s.mu.Unlock()
	if !inFile {
		l.held = append(make([]uint64, 0, len(set)), set...)
	} else if err == nil {
		_, err = file.WriteAt(store.Bytes64(set), l.at)
	}
	if err != nil {
		return l, fmt.Errorf("temporary file of shingles: %w", err)
	}
	return l, nil
}

// Get returns set i, in buf if it has to be read: then it is overwritten when buf is used
// again. A set that was not put is empty.
func (s *Sets) Get(i int, buf []uint64) (set, newBuf []uint64, err error) {
	l := s.at[i]
	if l.held != nil || l.size == 0 {
		return l.held, buf, nil
	}
	if cap(buf) < int(l.size) {
		buf = make([]uint64, l.size)
	}
	buf = buf[:l.size]
	if _, err := s.file.File().ReadAt(store.Bytes64(buf), l.at); err != nil {
		return nil, buf, fmt.Errorf("temporary file of shingles: %w", err)
	}
	return buf, buf, nil
}

// Len returns how many shingles set i has.
func (s *Sets) Len(i int) int { return int(s.at[i].size) }

// Close removes the file.
func (s *Sets) Close() error { return s.file.Close() }
