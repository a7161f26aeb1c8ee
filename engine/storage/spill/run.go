package spill

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"unsafe"

	"ndd/engine/memory"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// A Number is what a [Run] consists of that is mapped, or read by place.
type Number interface {
	Record | uint32 | uint16 | byte
}

// A Run is a sorted run: records in order in a temporary file. A run that is not merged may have
// numbers in any order. It belongs to one goroutine.
type Run[R Number] struct {
	file  *disk.Temp
	out   *bufio.Writer
	what  string
	dir   string
	count int
	last  R // when count > 0

	maps [2]mapping // for reads in order, and in any order
}

// Create makes an empty run in the folder dir, or in the system's folder for temporary files when
// dir is empty. What names the records, in messages and in the file's name. Writes are of
// bufferBytes.
func Create[R Number](d *disk.Disk, dir, what string, bufferBytes int) (*Run[R], error) {
	r := &Run[R]{what: what, dir: cmp.Or(dir, os.TempDir())}
	file, err := d.Temp(r.dir, what)
	if err != nil {
		return nil, r.failed(err)
	}
	r.file, r.out = file, bufio.NewWriterSize(file, bufferBytes)
	return r, nil
}

// failed returns the error of a call about the file, nil for nil.
func (r *Run[R]) failed(err error) error {
	if err == nil {
		return nil
	}
	return &Error{What: r.what, Dir: r.dir, Err: err}
}

// Append adds records, which must be in order and not come before those that are there.
func (r *Run[R]) Append(records []R) error {
	if len(records) == 0 {
		return nil
	}
	r.count += len(records)
	r.last = records[len(records)-1]
	_, err := r.out.Write(memory.As[byte](records))
	return r.failed(err)
}

// AppendDistinct adds those of the records, which must be in order, that are not there yet. It
// moves them to the front of records.
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
func (r *Run[R]) Flush() error { return r.failed(r.out.Flush()) }

// ReadAt sets dst to the records from number at on, which must be there and flushed. It may be called
// from many goroutines while nothing is appended.
func (r *Run[R]) ReadAt(dst []R, at int) error {
	b := memory.As[byte](dst)
	n, err := r.file.File().ReadAt(b, int64(at)*int64(unsafe.Sizeof(r.last)))
	if n == len(b) {
		err = nil
	} else if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return r.failed(err)
}

// Map returns all records, mapped. They are valid until [Run.Rewind] or [Run.Close], before which
// nothing may be appended.
func (r *Run[R]) Map() ([]R, error) { return r.mapOnce(&r.maps[0], store.Map) }

// MapScattered is [Run.Map] for reads in any order.
func (r *Run[R]) MapScattered() ([]R, error) { return r.mapOnce(&r.maps[1], store.MapScattered) }

// DontNeed takes the pages of [Run.Map] and [Run.MapScattered] out of the process's memory until they are read
// again. It may be called beside reads, and on nil.
func (r *Run[R]) DontNeed() {
	if r == nil {
		return
	}
	for _, m := range r.maps {
		store.DontNeed(m.data)
	}
}

// A mapping is a file that is mapped, or none.
type mapping struct {
	data  []byte
	unmap func() error
}

func (r *Run[R]) mapOnce(m *mapping, do func(*os.File) ([]byte, func() error, error)) (_ []R, err error) {
	if err := r.Flush(); err != nil {
		return nil, err
	}
	if r.count == 0 {
		return nil, nil
	}
	if m.unmap == nil {
		if m.data, m.unmap, err = do(r.file.File()); err != nil {
			return nil, r.failed(err)
		}
	}
	return memory.As[R](m.data), nil
}

// Rewind makes the run empty.
func (r *Run[R]) Rewind() error {
	if err := errors.Join(r.release(), r.file.Rewind()); err != nil {
		return r.failed(err)
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
		r.maps[i] = mapping{}
	}
	return err
}

// Close gives the file back. It may be called on nil.
func (r *Run[R]) Close() error {
	if r == nil {
		return nil
	}
	return r.failed(errors.Join(r.release(), r.file.Close()))
}

// Len returns the number of records.
func (r *Run[R]) Len() int { return r.count }
