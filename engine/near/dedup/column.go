package dedup

import (
	"errors"

	"ndd/engine/storage/spill"
)

// A column has a value for each row: in memory or, from [column.spill] on, in a temporary file.
type column[T spill.Number] struct {
	all []T // when all are there; and before, in memory
	run *spill.Run[T]
	one [1]T
}

const columnBuffer = 64 << 10 // bytes that are written at a time

// append appends the value of the next row.
func (c *column[T]) append(v T) error {
	if c.run == nil {
		c.all = append(c.all, v)
		return nil
	}
	c.one[0] = v
	return c.run.Append(c.one[:])
}

// len returns how many values there are.
func (c *column[T]) len() int {
	if c.run != nil {
		return c.run.Len()
	}
	return len(c.all)
}

// spill moves all values to a temporary file.
func (c *column[T]) spill(o *ReadOptions, what string) (err error) {
	if c.run != nil {
		return nil
	}
	if c.run, err = spill.Create[T](o.Disk, o.TempDir, what, columnBuffer); err == nil {
		err = c.run.Append(c.all)
	}
	c.all = nil
	return err
}

// end maps the file, in the end.
func (c *column[T]) end() (err error) {
	if c.run != nil && c.all == nil {
		c.all, err = c.run.Map()
	}
	return err
}

// close gives the file back. It may be called again.
func (c *column[T]) close() {
	c.run.Close() // what is lost is temporary
	c.run, c.all = nil, nil
}

// spillColumns moves all that grows with the rows, of which memory does not have room for so many, to
// temporary files.
func (c *Corpus) spillColumns() error {
	c.spilled = true
	err := c.prints.spill(&c.o, "fingerprints")
	if c.o.Keep.byLength() {
		err = errors.Join(err, c.lengths.spill(&c.o, "lengths"))
	}
	if c.o.Source.Field != "" {
		err = errors.Join(err, c.sources.of.spill(&c.o, "sources"))
	}
	for i := range c.values {
		err = errors.Join(err, c.values[i].keys.spill(&c.o, "values"))
	}
	return err
}

// endColumns makes all columns ready to be read.
func (c *Corpus) endColumns() error {
	err := errors.Join(c.prints.end(), c.lengths.end(), c.sources.of.end())
	for i := range c.values {
		err = errors.Join(err, c.values[i].keys.end())
	}
	return err
}
