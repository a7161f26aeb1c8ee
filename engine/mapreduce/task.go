package mapreduce

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"example.org/ndd/engine/memory"
)

// ErrRecipe is wrapped if fingerprints, or signatures, were made by different recipes.
var ErrRecipe = errors.New("different recipes")

// ErrBad is wrapped if a task met more malformed records than Options.MaxBad.
var ErrBad = errors.New("too many bad records")

// PartitionsMax is the maximum number of partitions of a shuffle.
const PartitionsMax = 1 << (6 * partDigits)

// Options configures a task: one run of a filter on one part of the input.
type Options struct {
	In  io.Reader // the part; it is read to its end
	Out io.Writer // receives the records

	// Partitions is the number of parts of a shuffle, at most [PartitionsMax], the same for all
	// tasks of a job: a multiple of the number of reduce tasks, or much larger.
	Partitions int
	// Parts is the number of tasks of the step before; 0 if unknown. The reduce of partition 0
	// checks it.
	Parts int

	Columns int       // number of fields of each result that [Collect] writes; 0: all
	Rows    Rows      // [Collect] writes rows of two documents after a header; "": results in the order of the input
	Copies  *CopyRows // [Collect] writes pairs of copies in the order of `ndd copies`; nil: in the order of the input

	File    string         // name of the file that is the part, for Fingerprint.Rows
	Budget  *memory.Budget // limits the memory of the task; nil: no limit
	Threads int            // computing goroutines, in addition to a reading one; 0 or less means one
	MaxBad  int64          // maximum number of bad records to skip; one more fails the task

	// Functions to call, if not nil:

	Count  func(name string, n int64) // called at the end, for each counter that is not 0
	Warn   func(message string)       // called for the first malformed records
	Status func(message string)       // called every StatusEvery while the task runs
}

// StatusEvery is the time between two calls of Options.Status. Frameworks end a task that is silent
// for ten minutes.
const StatusEvery = 10 * time.Second

// A Mapper is a job's map: it reads a part of the input and writes records for a shuffle, or
// results if the job has no reduce.
type Mapper interface {
	mapPart(ctx context.Context, t *task) error
	name() string
}

// A Reducer makes results from all records of some partitions.
type Reducer interface {
	reduce(ctx context.Context, t *task) error
	name() string
}

// Map runs a job's map on one part. Its output ends with an end record for partition 0 and for each
// other partition that has records. The error is nil only if all input was read and all output
// written.
func Map(ctx context.Context, j Mapper, o Options) error {
	return run(ctx, o, "map", j.name(), j.mapPart, (*task).endMap)
}

// Reduce runs a job's reduce on all records of some partitions, sorted by key. The error wraps
// [ErrLost] if the maps sent other records, and [ErrJob] if the maps ran another job. After an error the
// output is invalid.
func Reduce(ctx context.Context, j Reducer, o Options) error {
	return run(ctx, o, "reduce", j.name(), j.reduce, (*task).endReduce)
}

// A task is the state of one run.
type task struct {
	Options
	w        *bufio.Writer
	line     []byte
	value    []byte   // value of a pair of copies
	fields   [][]byte // fields of a collected result
	counters counters
	job      string // name of the job in a map or a reduce
	sideFile string // side file with the recipe; "" if there is none

	read    end                     // end records of the input; before counts the records read
	sent    []count                 // records that a map wrote, by partition
	results end                     // end record of the results
	arrived map[int]*partitionCount // records that a reduce read, by partition
}

// run runs the work and the end of a task. It reports the status from time to time, and the counters at the end.
func run(ctx context.Context, o Options, what, job string, work func(context.Context, *task) error, end func(*task) error) error {
	if o.Partitions < 1 || o.Partitions > PartitionsMax {
		return fmt.Errorf("%d partitions: must be 1 to %d", o.Partitions, PartitionsMax)
	}
	o.Threads = max(1, o.Threads)
	t := &task{Options: o, w: bufio.NewWriterSize(o.Out, 1<<16), job: job, sent: make([]count, o.Partitions),
		arrived: map[int]*partitionCount{}}
	stop := t.reportStatus(what)
	err := work(ctx, t)
	if err == nil {
		err = end(t)
	}
	stop()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = t.checkBad()
	}
	if err == nil {
		err = t.w.Flush()
	}
	if t.Count != nil {
		for i := range t.counters {
			if n := t.counters[i].Load(); n != 0 {
				t.Count(counterNames[i], n)
			}
		}
	}
	return err
}

// send writes a record of a map for a partition. It puts the number of the partition before the key.
func (t *task) send(partition int, key, value []byte) error {
	t.line = append(appendNumber(t.line[:0], uint64(partition), partDigits), key...)
	return t.put(&t.sent[partition], value)
}

// result writes a record of the job's results.
func (t *task) result(key, value []byte) error {
	t.line = append(t.line[:0], key...)
	return t.put(&t.results.count, value)
}

// put writes the record whose key is t.line, and counts it.
func (t *task) put(to *count, value []byte) error {
	n := len(t.line)
	t.line = append(append(t.line, '\t'), value...)
	to.add(record{t.line[:n], t.line[n+1:]})
	t.counters.add(recordsOut, 1)
	_, err := t.w.Write(append(t.line, '\n'))
	return err
}

func (t *task) partition(hash uint64) int {
	return int(hash * 0x9e3779b97f4a7c15 >> 32 * uint64(t.Partitions) >> 32)
}

// endMap writes the end records of a map.
func (t *task) endMap() error {
	if t.results.Parts > 0 { // it has no reduce
		return t.endResults()
	}
	for i, c := range t.sent {
		e := end{count: c}
		if i == 0 {
			e.Parts, e.Unread, e.Inputs, e.Recipe, e.Job = 1, t.unreadCount(), t.read.Parts, t.read.Recipe, t.job
			e.Sketch, e.Documents, e.Pairs = t.read.Sketch, t.read.Documents, t.read.Pairs
			e.Bad = t.read.Bad + t.counters[badRecords].Load()
		} else if c == (count{}) {
			continue
		}
		if err := t.writeEnd(appendNumber(nil, uint64(i), partDigits), &e); err != nil {
			return err
		}
	}
	return nil
}

// unreadCount returns the counts of the input's end records, minus the records read.
func (t *task) unreadCount() count { return t.read.count.minus(t.read.Unread) }

// writeEnd writes an end record whose key has a prefix.
func (t *task) writeEnd(prefix []byte, e *end) error {
	_, err := t.w.Write(append(e.append(append(append(prefix, endKey...), '\t')), '\n'))
	return err
}

// endReduce checks that all records arrived, and writes the end record of the results.
func (t *task) endReduce() error {
	t.results.Parts = 1
	for i, a := range t.arrived {
		if err := a.end.checkWhole(fmt.Sprintf("partition %d", i), a.count); err != nil {
			return err
		}
		if i != 0 {
			continue
		}
		if t.Parts > 0 && a.end.Parts != int64(t.Parts) {
			return fmt.Errorf("%w: %d parts arrived, and there must be %d", ErrLost, a.end.Parts, t.Parts)
		}
		if err := a.end.checkRead(); err != nil {
			return err
		}
		t.results.Recipe, t.results.Sketch = a.end.Recipe, a.end.Sketch
		if t.results.Pairs == 0 { // otherwise the documents already count the same bad records
			t.results.Bad = a.end.Bad
		}
	}
	return t.endResults()
}

// endResults writes the end record of the results.
func (t *task) endResults() error {
	e := t.results
	e.Inputs, e.Unread = t.read.Parts, t.unreadCount()
	e.Recipe = cmp.Or(e.Recipe, t.read.Recipe)
	e.Bad += t.read.Bad + t.counters[badRecords].Load()
	return t.writeEnd(nil, &e)
}
