package spill

import (
	"math"
	"unsafe"

	"ndd/engine/storage/disk"
)

// A Column holds numbers that are appended first and read later: in memory or, beyond some bytes, in a
// temporary file that is mapped. Many goroutines may read it when it has ended. The zero value stays in memory.
type Column[T Number] struct {
	All []T // all of them once it has ended

	disk      *disk.Disk
	dir, what string
	most      int     // numbers in memory; 0: no limit
	run       *Run[T] // of those before; nil: none
	ended     bool
	err       error // the first one
}

// columnBuffer is the size in bytes of the part in memory of a column whose beginning is in a file.
const columnBuffer = 256 << 10

// NewColumn returns a column without numbers, of which up to a number of bytes stay in memory; 0 is no limit. The
// others are the parameters of [Create].
func NewColumn[T Number](d *disk.Disk, dir, what string, bytesMax uint64) Column[T] {
	c := Column[T]{disk: d, dir: dir, what: what}
	if bytesMax > 0 {
		c.most = int(max(min(bytesMax, math.MaxInt)/uint64(unsafe.Sizeof(*new(T))), 1))
	}
	return c
}

// Append appends one number. Its error stays.
func (c *Column[T]) Append(v T) error {
	if c.most > 0 && len(c.All) >= c.most {
		c.spill()
	}
	c.All = append(c.All, v)
	return c.err
}

// AppendAll appends numbers. Its error stays.
func (c *Column[T]) AppendAll(list []T) error {
	if c.most > 0 && len(c.All)+len(list) > c.most {
		if c.spill(); len(list) > c.most && c.err == nil {
			c.err = c.run.Append(list) // as it is: a copy could be large
			return c.err
		}
	}
	c.All = append(c.All, list...)
	return c.err
}

// spill moves the numbers in memory to the file.
func (c *Column[T]) spill() {
	if c.run == nil && c.err == nil {
		c.run, c.err = Create[T](c.disk, c.dir, c.what, 4<<10) // which large writes pass by
	}
	if c.err == nil {
		c.err = c.run.Append(c.All)
	}
	if buffer := columnBuffer / int(unsafe.Sizeof(*new(T))); c.most > buffer {
		c.most, c.All = buffer, nil
	}
	c.All = c.All[:0]
}

// Len returns how many numbers there are.
func (c *Column[T]) Len() int {
	if c.run == nil || c.ended {
		return len(c.All)
	}
	return c.run.Len() + len(c.All)
}

// IsSpilled reports whether there are numbers in a file.
func (c *Column[T]) IsSpilled() bool { return c.run != nil }

// End makes all numbers readable. It may be called again; nothing may be appended behind it.
func (c *Column[T]) End() error {
	if c.run != nil && !c.ended {
		if c.spill(); c.err == nil {
			c.All, c.err = c.run.Map()
		}
	}
	c.ended = true
	return c.err
}

// Scattered returns the numbers of a column that has ended, for reads in any order, of which none reads ahead
// in the file. They are valid until Close.
func (c *Column[T]) Scattered() ([]T, error) {
	if c.run == nil {
		return c.All, nil
	}
	return c.run.MapScattered()
}

// DontNeed takes numbers of a column that has ended, as far as they are in a file, out of the process's memory until
// they are read again. It may be called beside reads.
func (c *Column[T]) DontNeed() { c.run.DontNeed() }

// Close gives the file back; the numbers are gone. It may be called again.
func (c *Column[T]) Close() error {
	run := c.run
	c.run, c.All = nil, nil
	return run.Close()
}
