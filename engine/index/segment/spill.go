package segment

import (
	"bufio"
	"errors"
	"fmt"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// spill holds the sorted keys of one table in a temporary file, for
// which memory would not do. They are written in order and then mapped.
type spill struct {
	file   *disk.Temp
	out    *bufio.Writer
	count  int
	before uint64 // the last key, when count > 0
	mapped []byte
	unmap  func() error
}

func newSpill(d *disk.Disk, dir string) (*spill, error) {
	f, err := d.Temp(dir, "keys")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpill, err)
	}
	return &spill{file: f, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

// write appends distinct keys.
func (s *spill) write(keys []uint64) error {
	s.count += len(keys)
	if _, err := s.out.Write(store.Bytes64(keys)); err != nil {
		return fmt.Errorf("%w: %w", ErrSpill, err)
	}
	return nil
}

// writeDistinct appends those of ascending keys that are not there yet. It
// moves them to the front of keys.
func (s *spill) writeDistinct(keys []uint64) error {
	n := 0
	for _, k := range keys {
		if n+s.count > 0 && k == s.before {
			continue
		}
		keys[n], s.before = k, k
		n++
	}
	return s.write(keys[:n])
}

// keys maps what was written.
func (s *spill) keys() ([]uint64, error) {
	err := s.out.Flush()
	if err == nil && s.count > 0 {
		s.mapped, s.unmap, err = store.Map(s.file.File())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpill, err)
	}
	return store.Uint64s(s.mapped), nil
}

// rewind makes it empty. The keys must not be in use any more.
func (s *spill) rewind() error {
	err := s.release()
	if err == nil {
		err = s.file.Rewind()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSpill, err)
	}
	s.out.Reset(s.file)
	s.count, s.before = 0, 0
	return nil
}

func (s *spill) release() (err error) {
	if s.unmap != nil {
		err = s.unmap()
		s.mapped, s.unmap = nil, nil
	}
	return err
}

// close gives the file back.
func (s *spill) close() error {
	return errors.Join(s.release(), s.file.Close())
}
