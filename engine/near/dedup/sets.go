package dedup

import (
	"fmt"
	"sync"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// sets are shingle sets, in memory as far as there is room and then in a
// temporary file. put and get may be called from many goroutines, but no put
// beside a get.
type sets struct {
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

// newSets returns room for n sets, where v says.
func newSets(v *Verify, n int) *sets {
	return &sets{room: v.memory(), disk: v.Disk, dir: v.TempDir, at: make([]location, n)}
}

// put stores set i, which it copies.
func (s *sets) put(i int, set []uint64) error {
	bytes := int64(8 * len(set))
	s.mu.Lock()
	l := location{at: s.end, size: int32(len(set))}
	inFile := s.room < bytes
	var err error
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
		return fmt.Errorf("temporary file of shingles: %w", err)
	}
	s.at[i] = l
	return nil
}

// get returns set i, in buf if it has to be read: then it is overwritten when buf is used
// again.
func (s *sets) get(i int, buf []uint64) (set, newBuf []uint64, err error) {
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

// size returns how many shingles set i has.
func (s *sets) size(i int) int { return int(s.at[i].size) }

// close removes the file.
func (s *sets) close() error { return s.file.Close() }
