package shingle

import (
	"fmt"
	"math/bits"
	"sync"

	"ndd/engine/memory"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// Sets are the sets of numbered documents, in memory as far as there is room and then in a
// temporary file. Of equal sets that come soon after each other one is stored. Put and Get may be
// called from many goroutines, but no Put beside a Get. Close it.
type Sets struct {
	mu     sync.Mutex
	memory *memory.Buffer[uint64] // nil until the first set is stored
	room   int                    // elements that it is to have
	end    int64                  // elements stored
	disk   *disk.Disk
	dir    string // of the file
	file   *disk.Temp
	at     []location // of each set
	recent []recent   // by hash
}

// A location is where a set is, in memory or in the file from the elements on that do not fit, and its size.
type location [2]uint64

func (l location) at() int64 { return int64(l[0]) }
func (l location) size() int { return int(l[1]) }

// A recent is a set that was stored, with its hash.
type recent struct {
	hash [2]uint64
	location
}

// recentSets are remembered to find equal ones.
const recentSets = 1 << 14

// NewSets returns room for n sets, of which it holds up to bytes in memory, and 16 bytes for each in the
// arena. The file is in folder dir, by default os.TempDir(), on d, by default the system's disk.
func NewSets(a *memory.Arena, n int, bytes int64, dir string, d *disk.Disk) (*Sets, error) {
	var err error
	at := memory.In[location](a, n, &err)
	return &Sets{room: int(bytes / 8), disk: d, dir: dir, at: at}, err
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
	hash := hashOf(set)
	l, stored, err := s.place(hash, len(set))
	if err == nil && !stored {
		if held := s.held(l); held != nil {
			copy(held, set)
		} else {
			_, err = s.file.WriteAt(store.Bytes64(set), 8*(l.at()-int64(s.room)))
		}
	}
	if err != nil {
		return l, fmt.Errorf("temporary file of shingles: %w", err)
	}
	return l, nil
}

// place returns the location of a set, and whether an equal one is stored there.
func (s *Sets) place(hash [2]uint64, size int) (l location, stored bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recent == nil {
		s.recent = make([]recent, recentSets)
		if s.memory, err = memory.Make[uint64](s.room); err != nil {
			return l, false, err
		}
	}
	r := &s.recent[hash[0]%recentSets]
	if r.hash == hash && r.size() == size {
		return r.location, true, nil
	}
	at := s.end
	if at < int64(s.room) && at+int64(size) > int64(s.room) {
		at = int64(s.room) // no set is in both
	}
	l, s.end = location{uint64(at), uint64(size)}, at+int64(size)
	if at >= int64(s.room) && s.file == nil {
		s.file, err = s.disk.Temp(s.dir, "shingles")
	}
	*r = recent{hash, l}
	return l, false, err
}

// held returns the elements in memory of a set, nil if it is in the file.
func (s *Sets) held(l location) []uint64 {
	if l.at() >= int64(s.room) {
		return nil
	}
	return s.memory.Data[l.at():][:l.size()]
}

// hashOf returns a hash of a set, of 128 bits.
func hashOf(set []uint64) (h [2]uint64) {
	for _, x := range set {
		hi, lo := bits.Mul64(h[0]^x, 0x9e3779b97f4a7c15)
		h[0], h[1] = lo^h[1], bits.RotateLeft64(h[1], 29)*0xbf58476d1ce4e5b9^hi^x
	}
	return h
}

// Get returns set i, in buf if it has to be read: then it is overwritten when buf is used
// again. A set that was not put is empty.
func (s *Sets) Get(i int, buf []uint64) (set, newBuf []uint64, err error) {
	l := s.at[i]
	if l.size() == 0 {
		return nil, buf, nil
	}
	if held := s.held(l); held != nil {
		return held, buf, nil
	}
	if cap(buf) < l.size() {
		buf = make([]uint64, l.size())
	}
	buf = buf[:l.size()]
	if _, err := s.file.File().ReadAt(store.Bytes64(buf), 8*(l.at()-int64(s.room))); err != nil {
		return nil, buf, fmt.Errorf("temporary file of shingles: %w", err)
	}
	return buf, buf, nil
}

// Len returns how many shingles set i has.
func (s *Sets) Len(i int) int { return s.at[i].size() }

// Close frees the memory and removes the file.
func (s *Sets) Close() error {
	s.memory.Free()
	return s.file.Close()
}
