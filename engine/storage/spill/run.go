package spill

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"unsafe"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// A Number is a type that a [Run] may contain. Only a [Record] can be merged.
type Number interface {
	Record | uint32 | uint16 | byte
}

// A Run is a temporary file of records in order. A run that is not merged may have any order. It is used by one
// goroutine.
type Run[R Number] struct {
	file  *disk.Temp
	out   *bufio.Writer
	task  string
	dir   string
	count int
	last  R // last record; valid if count > 0

	maps [2]fileView // views for sequential and for random reads
}

// Create creates an empty run in the folder dir, or in the system's default folder for temporary files if dir is
// empty. Messages and the name of the file contain task. Writes have bufferBytes bytes.
func Create[R Number](d *disk.Disk, dir, task string, bufferBytes int) (*Run[R], error) {
	r := &Run[R]{task: task, dir: cmp.Or(dir, os.TempDir())}
	file, err := d.Temp(r.dir, task)
	if err != nil {
		return nil, r.wrap(err)
	}
	r.file, r.out = file, bufio.NewWriterSize(file, bufferBytes)
	return r, nil
}

// wrap returns the error of a call about the file, with its description. It returns nil for nil.
func (r *Run[R]) wrap(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Task: r.task, Dir: r.dir, Err: err}
}

// Append adds records. They must be in order and must not sort before the last record.
func (r *Run[R]) Append(records []R) error {
	if len(records) == 0 {
		return nil
	}
	r.count += len(records)
	r.last = records[len(records)-1]
	_, err := r.out.Write(memory.Cast[byte](records))
	return r.wrap(err)
}

// AppendDistinct adds the records that differ from their predecessor. The records must be in order. It compacts the
// slice records in place.
func (r *Run[R]) AppendDistinct(records []R) error {
	n := 0
	for _, v := range records {
		if n > 0 && v == records[n-1] || n == 0 && r.count > 0 && v == r.last {
			continue
		}
		records[n] = v
		n++
	}
	return r.Append(records[:n])
}

// Flush writes the rest of the buffer.
func (r *Run[R]) Flush() error { return r.wrap(r.out.Flush()) }

// ReadAt fills dst with the records from index on. They must exist and be flushed. It is safe for concurrent use
// while nothing is appended.
func (r *Run[R]) ReadAt(dst []R, index int) error {
	b := memory.Cast[byte](dst)
	n, err := r.file.File().ReadAt(b, int64(index)*int64(unsafe.Sizeof(r.last)))
	if n == len(b) {
		err = nil
	} else if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return r.wrap(err)
}

// Map maps all records. They are valid until [Run.Rewind] or [Run.Close]. Nothing may be appended before that.
func (r *Run[R]) Map() ([]R, error) { return r.mapOnce(&r.maps[0], store.Map) }

// MapRandom is [Run.Map] for reads in random order.
func (r *Run[R]) MapRandom() ([]R, error) { return r.mapOnce(&r.maps[1], store.MapRandom) }

// DontNeed removes the pages of [Run.Map] and [Run.MapRandom] from the memory of the process until they are read
// again. It may be called concurrently with reads, and on nil.
func (r *Run[R]) DontNeed() {
	if r == nil {
		return
	}
	for _, m := range r.maps {
		store.DontNeed(m.data)
	}
}

// A fileView is a mapped file. Its zero value is none.
type fileView struct {
	data  []byte
	unmap func() error
}

func (r *Run[R]) mapOnce(m *fileView, do func(*os.File) ([]byte, func() error, error)) (_ []R, err error) {
	if err := r.Flush(); err != nil {
		return nil, err
	}
	if r.count == 0 {
		return nil, nil
	}
	if m.unmap == nil {
		if m.data, m.unmap, err = do(r.file.File()); err != nil {
			return nil, r.wrap(err)
		}
	}
	return memory.Cast[R](m.data), nil
}

// Rewind empties the run.
func (r *Run[R]) Rewind() error {
	if err := errors.Join(r.release(), r.file.Rewind()); err != nil {
		return r.wrap(err)
	}
	r.out.Reset(r.file)
	r.count = 0
	return nil
}

func (r *Run[R]) release() (err error) {
	for i, m := range r.maps {
		if m.unmap != nil {
			err = errors.Join(err, m.unmap())
		}
		r.maps[i] = fileView{}
	}
	return err
}

// Close unmaps and removes the file. It may be called on nil.
func (r *Run[R]) Close() error {
	if r == nil {
		return nil
	}
	return r.wrap(errors.Join(r.release(), r.file.Close()))
}

// Len returns the number of records.
func (r *Run[R]) Len() int { return r.count }
