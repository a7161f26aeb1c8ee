package mapreduce

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/storage/spill"
)

// A lineSorter holds lines of results and sorts them by the number at the beginning of each line. If there are many, it
// keeps the lines and their offsets in temporary files.
type lineSorter struct {
	t      *task
	lines  spill.Column[byte]
	places *radix.Records[[2]uint64] // number, and offset of the line
	list   *radix.RecordWriter[[2]uint64]
}

// orderedRoom is the number of places that are sorted at a time: 64 MiB with their copies.
const orderedRoom = 1 << 20

func newOrdered(t *task) *lineSorter {
	o := &lineSorter{t: t, lines: spill.NewColumn[byte](nil, "", "results", 1<<20),
		places: radix.NewRecords(spill.NewRuns[[2]uint64](nil, "", "rows", 1<<20), orderedRoom, t.Threads)}
	o.list = o.places.Writer()
	return o
}

// add adds the line of a record.
func (o *lineSorter) add(r record) error {
	number, err := strconv.ParseUint(string(r.key), 10, 64)
	if err != nil {
		return fmt.Errorf("%.40q is no row of a query", r.key)
	}
	if err := o.list.Add([2]uint64{number, uint64(o.lines.Len())}); err != nil {
		return err
	}
	return o.lines.AppendAll(o.t.line)
}

// write writes all lines in order.
func (o *lineSorter) write() error {
	o.list.Close()
	if err := o.lines.End(); err != nil {
		return err
	}
	for place, err := range o.places.All() {
		if err != nil {
			return err
		}
		line := o.lines.All[place[1]:]
		if _, err := o.t.w.Write(line[:bytes.IndexByte(line, '\n')+1]); err != nil {
			return err
		}
	}
	return nil
}

func (o *lineSorter) close() error { return errors.Join(o.lines.Close(), o.places.Close()) }
