package shingle

import (
	"cmp"
	"slices"
	"sync"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/spill"
)

// Sets are the sets of numbered documents. Sets that do not fit into memory are in a temporary file. Many goroutines
// may call Put, and after End they may call Get. Call Close at the end.
type Sets struct {
	mu        sync.Mutex
	err       error // first error
	buffer    *memory.Buffer[uint64]
	used      int                // number of elements in held
	create    func() error       // makes rest
	spilled   *spill.Run[uint64] // elements that do not fit; nil before there are any
	locations []location         // location of each set
}

// A location is the offset and the size of a set. Offsets in rest follow the offsets in held.
type location [2]uint64

// NewSets returns space for n sets. It holds up to the given number of bytes of them in memory, and 16 bytes for each
// set in the arena. The file is in folder dir, by default os.TempDir(), on d, by default the system's disk.
func NewSets(a *memory.Arena, n int, bytes int64, dir string, d *disk.Disk) (*Sets, error) {
	var err error
	s := &Sets{locations: memory.Alloc[location](a, n, &err)}
	if err == nil {
		s.buffer, err = memory.Make[uint64](int(bytes / 8))
	}
	s.create = func() (err error) {
		s.spilled, err = spill.Create[uint64](d, dir, "shingles", 256<<10)
		return err
	}
	return s, err
}

// Put stores set i, which it copies.
func (s *Sets) Put(i int, set []uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	start := s.used
	if start+len(set) <= len(s.buffer.Data) {
		s.used += copy(s.buffer.Data[start:], set)
	} else {
		if s.spilled == nil && s.err == nil {
			s.err = s.create()
		}
		if s.err == nil {
			start = len(s.buffer.Data) + s.spilled.Len()
			s.err = s.spilled.Append(set)
		}
	}
	s.locations[i] = location{uint64(start), uint64(len(set))}
	return s.err
}

// End makes all sets readable. No set may be stored after it.
func (s *Sets) End() error {
	if s.spilled != nil && s.err == nil {
		s.err = s.spilled.Flush()
	}
	return s.err
}

// Get returns set i. It reads a set of the file into buf, so that the next use of buf overwrites it. A set that was not
// stored is empty. A set that cannot be read is empty too, and Close returns the error.
func (s *Sets) Get(i int, buf *[]uint64) []uint64 {
	start, size := int(s.locations[i][0]), int(s.locations[i][1])
	if start+size <= len(s.buffer.Data) {
		return s.buffer.Data[start:][:size]
	}
	*buf = slices.Grow((*buf)[:0], size)[:size]
	if err := s.spilled.ReadAt(*buf, start-len(s.buffer.Data)); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = cmp.Or(s.err, err)
		return nil
	}
	return *buf
}

// Close frees the memory and removes the file. It returns the first error of all methods.
func (s *Sets) Close() error {
	s.buffer.Free()
	return cmp.Or(s.err, s.spilled.Close())
}
