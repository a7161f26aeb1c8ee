package spill

import (
	"math"
	"unsafe"

	"example.org/ndd/engine/storage/disk"
)

// A Column holds numbers that are first appended and then read. They are in memory or, beyond a limit, in a temporary
// file that is mapped. After End many goroutines may read them. The zero value stays in memory.
type Column[T Number] struct {
	All []T // all numbers, after End

	disk      *disk.Disk
	dir, task string
	max       int     // maximum count in memory; 0: no limit
	run       *Run[T] // earlier numbers; nil: none
	ended     bool
	err       error // the first error
}

// columnBuffer is the number of bytes that a column keeps in memory after its first spill.
const columnBuffer = 256 << 10

// NewColumn returns an empty column that keeps at most bytesMax bytes in memory; 0 means no limit. The other
// parameters are described at [Create].
func NewColumn[T Number](d *disk.Disk, dir, task string, bytesMax uint64) Column[T] {
	c := Column[T]{disk: d, dir: dir, task: task}
	if bytesMax > 0 {
		c.max = int(max(min(bytesMax, math.MaxInt)/uint64(unsafe.Sizeof(*new(T))), 1))
	}
	return c
}

// Append appends one number. After an error, all later calls return that error.
func (c *Column[T]) Append(v T) error {
	if c.max > 0 && len(c.All) >= c.max {
		c.spill()
	}
	c.All = append(c.All, v)
	return c.err
}

// AppendAll appends numbers. After an error, all later calls return that error.
func (c *Column[T]) AppendAll(list []T) error {
	if c.max > 0 && len(c.All)+len(list) > c.max {
		if c.spill(); len(list) > c.max && c.err == nil {
			c.err = c.run.Append(list) // directly, because a copy could be large
			return c.err
		}
	}
	c.All = append(c.All, list...)
	return c.err
}

// spill moves the numbers in memory to the file.
func (c *Column[T]) spill() {
	if c.run == nil && c.err == nil {
		c.run, c.err = Create[T](c.disk, c.dir, c.task, 4<<10) // large writes bypass this buffer
	}
	if c.err == nil {
		c.err = c.run.Append(c.All)
	}
	if buffer := columnBuffer / int(unsafe.Sizeof(*new(T))); c.max > buffer {
		c.max, c.All = buffer, nil
	}
	c.All = c.All[:0]
}

// Len returns the number of values.
func (c *Column[T]) Len() int {
	if c.run == nil || c.ended {
		return len(c.All)
	}
	return c.run.Len() + len(c.All)
}

// IsSpilled reports whether a part of the numbers is in a file.
func (c *Column[T]) IsSpilled() bool { return c.run != nil }

// End makes all numbers readable. It may be called again. Nothing may be appended after it.
func (c *Column[T]) End() error {
	if c.run != nil && !c.ended {
		if c.spill(); c.err == nil {
			c.All, c.err = c.run.Map()
		}
	}
	c.ended = true
	return c.err
}

// Random returns the numbers after End, for reads in random order without read-ahead. They are valid until Close.
func (c *Column[T]) Random() ([]T, error) {
	if c.run == nil {
		return c.All, nil
	}
	return c.run.MapRandom()
}

// DontNeed removes the file's pages from the memory of the process until they are read again. It is called after End,
// also concurrently with reads.
func (c *Column[T]) DontNeed() { c.run.DontNeed() }

// Close releases the file and the numbers. It may be called again.
func (c *Column[T]) Close() error {
	run := c.run
	c.run, c.All = nil, nil
	return run.Close()
}
