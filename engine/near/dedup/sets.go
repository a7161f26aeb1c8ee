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
	mu    sync.Mutex
	room  int64 // bytes of memory left
	disk  *disk.Disk
	dir   string // of the file
	file  *disk.Temp
	end   int64 // of the file
	spans []span
}

// span is where a set is.
type span struct {
	held []uint64 // nil if it is in the file
	at   int64
	size int32
}

// newSets has room for n sets, as v says where.
func newSets(v *Verify, n int) *sets {
	return &sets{room: v.memory(), disk: v.Disk, dir: v.TempDir, spans: make([]span, n)}
}

// put stores set i, which it copies.
func (s *sets) put(i int, set []uint64) error {
	bytes := int64(8 * len(set))
	s.mu.Lock()
	sp := span{at: s.end, size: int32(len(set))}
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
		sp.held = append(make([]uint64, 0, len(set)), set...)
	} else if err == nil {
		_, err = file.WriteAt(store.Bytes64(set), sp.at)
	}
	if err != nil {
		return fmt.Errorf("temporary file of shingles: %w", err)
	}
	s.spans[i] = sp
	return nil
}

// get is set i, in buf if it has to be read. The set is gone when buf is used
// again.
func (s *sets) get(i int, buf []uint64) (set, newBuf []uint64, err error) {
	sp := s.spans[i]
	if sp.held != nil || sp.size == 0 {
		return sp.held, buf, nil
	}
	if cap(buf) < int(sp.size) {
		buf = make([]uint64, sp.size)
	}
	buf = buf[:sp.size]
	if _, err := s.file.File().ReadAt(store.Bytes64(buf), sp.at); err != nil {
		return nil, buf, fmt.Errorf("temporary file of shingles: %w", err)
	}
	return buf, buf, nil
}

// size is how many shingles set i has.
func (s *sets) size(i int) int { return int(s.spans[i].size) }

// close gives the file back.
func (s *sets) close() error { return s.file.Close() }
