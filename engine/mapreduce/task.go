package mapreduce

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"ndd/engine/memory"
)

// ErrRecipe is what errors wrap of fingerprints, or signatures, that were made by different recipes.
var ErrRecipe = errors.New("different recipes")

// ErrBad is what errors wrap of a task that met more bad records than it may.
var ErrBad = errors.New("too many bad records")

// PartitionsMax is the most partitions that a shuffle can have.
const PartitionsMax = 1 << (6 * partDigits)

// Options configures a task: one run of a filter on one part of the input.
type Options struct {
	In  io.Reader // the part; it is read to its end
	Out io.Writer // where the records go

	// Partitions is the number of parts into which the keys of a shuffle are divided, at most [PartitionsMax]. All maps of
	// a job have the same. It is a multiple of the number of reduce tasks, or so many times that number that it
	// makes no difference.
	Partitions int
	// Parts is how many maps, or reduces, there must have been; 0 if nobody knows. Of the reduce tasks, the one that
	// has partition 0 checks it.
	Parts int

	Columns int // of what [Collect] writes, the first ones; 0: all

	Form     Form           // of a map's input, for jobs that read fingerprints
	WebHDFS  string         // address of the service that hdfs:// paths are read from, such as http://namenode:9870
	HDFSUser string         // who asks WebHDFS; may be empty
	File     string         // name of the file that the part is of, for IDs of raw fingerprints; may be empty
	Budget   *memory.Budget // of which a task reserves what it takes; nil: no limit
	Threads  int            // goroutines that compute, beside one that reads; 0 or less: one
	MaxBad   int64          // bad records that are skipped; one more fails the task

	Count  func(name string, n int64)      // is called at the end, unless nil, with each counter that is not 0
	Warn   func(message string)            // is called, unless nil, for the first bad records
	Status func(message string)            // is called, unless nil, every StatusEvery while the task runs
	Say    func(task string, bytes uint64) // is called, unless nil, with the most memory that the task takes, before it does
}

// StatusEvery is how often a task says that it is alive. Frameworks end what is silent for ten minutes.
const StatusEvery = 10 * time.Second

// A Mapper is a job's map: it reads a part of the input and writes records for a shuffle, or results where there is no reduce.
type Mapper interface {
	mapPart(ctx context.Context, t *task) error
	name() string
}

// A Combiner makes fewer records of a part of a map's.
type Combiner interface {
	combine(ctx context.Context, t *task) error
}

// A Reducer makes results of all records of some partitions.
type Reducer interface {
	reduce(ctx context.Context, t *task) error
	name() string
}

// Map runs a job's map on one part. What it writes ends with an end record for each partition that has records, and for
// partition 0. The error is nil only if all input was read and everything was written.
func Map(ctx context.Context, j Mapper, o Options) error {
	t, err := newTask(o)
	if err != nil {
		return err
	}
	t.job = j.name()
	return t.run(ctx, "map", func(ctx context.Context) error {
		if err := j.mapPart(ctx, t); err != nil {
			return err
		}
		return t.endMap()
	})
}

// Combine runs a job's combiner on some sorted records of a map. Its end records say how many records fewer there are now.
func Combine(ctx context.Context, j Combiner, o Options) error {
	t, err := newTask(o)
	if err != nil {
		return err
	}
	last := -1
	t.between = func(partition int) error {
		if last, partition = partition, last; partition < 0 || partition == last {
			return nil
		}
		if t.ending != nil {
			if err := t.ending(); err != nil {
				return err
			}
		}
		return t.endCombined(partition)
	}
	return t.run(ctx, "combine", func(ctx context.Context) error {
		if err := j.combine(ctx, t); err != nil {
			return err
		}
		return t.between(-1)
	})
}

// Reduce runs a job's reduce on all records of some partitions, which come sorted by key. The error wraps [ErrLost] if
// these are not what the maps sent, and [ErrJob] if the maps were of another job, and then nothing that was written is worth anything.
func Reduce(ctx context.Context, j Reducer, o Options) error {
	t, err := newTask(o)
	if err != nil {
		return err
	}
	t.job = j.name()
	return t.run(ctx, "reduce", func(ctx context.Context) error {
		if err := j.reduce(ctx, t); err != nil {
			return err
		}
		return t.endReduce()
	})
}

// A task is the state of one run.
type task struct {
	Options
	w        *bufio.Writer
	line     []byte
	counters counters
	job      string // its name, of a map or a reduce
	beside   string // the file beside a map that the recipe is of; "" if there is none

	read    end             // of the input: its ends, and in before what was read
	written []count         // of each partition, by a map
	results end             // of what is written as results
	arrived map[int]*arrive // of each partition, to a reduce or a combiner
	ending  func() error    // of a combiner that holds a record, writes it
	between func(int) error // of a combiner, is called with the partition of each record that arrives, and -1 at the end
}

func newTask(o Options) (*task, error) {
	if o.Partitions < 1 || o.Partitions > PartitionsMax {
		return nil, fmt.Errorf("%d partitions: must be 1 to %d", o.Partitions, PartitionsMax)
	}
	o.Threads = max(1, o.Threads)
	return &task{Options: o, w: bufio.NewWriterSize(o.Out, 1<<16), written: make([]count, o.Partitions), arrived: map[int]*arrive{}}, nil
}

// run runs the steps of a task, says now and then that it lives, and counts.
func (t *task) run(ctx context.Context, what string, steps func(context.Context) error) error {
	stop := t.living(what)
	err := steps(ctx)
	stop()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = t.tooBad()
	}
	if err == nil {
		err = t.w.Flush()
	}
	if t.Count != nil {
		t.counters.each(t.Count)
	}
	return err
}

// reserve takes memory for the task from its budget, and says so.
func (t *task) reserve(what string, bytes uint64) (*memory.Reservation, error) {
	r, err := t.Budget.Reserve(what, bytes)
	if err == nil && t.Say != nil {
		t.Say(what, t.Budget.Total(bytes))
	}
	return r, err
}

// send writes a record of a map for a partition: its key goes behind the partition's number.
func (t *task) send(partition int, key, value []byte) error {
	t.line = appendNumber(t.line[:0], uint64(partition), partDigits)
	t.line = append(t.line, key...)
	return t.put(partition, len(t.line), value)
}

// put writes the record whose key t.line has, up to n.
func (t *task) put(partition, n int, value []byte) error {
	t.line = append(append(t.line, '\t'), value...)
	t.written[partition].add(record{t.line[:n], t.line[n+1:]})
	t.counters.add(recordsOut, 1)
	_, err := t.w.Write(append(t.line, '\n'))
	return err
}

// result writes a record of what a job results in.
func (t *task) result(key, value []byte) error {
	t.line = append(append(append(t.line[:0], key...), '\t'), value...)
	t.results.count.add(record{key, value})
	t.counters.add(recordsOut, 1)
	_, err := t.w.Write(append(t.line, '\n'))
	return err
}

// partition returns the partition of a number that is as good as random.
func (t *task) partition(hash uint64) int {
	return int(hash * 0x9e3779b97f4a7c15 >> 32 * uint64(t.Partitions) >> 32)
}

// endMap writes the end records of a map.
func (t *task) endMap() error {
	if t.results.parts > 0 { // it has no reduce
		return t.endResults()
	}
	for i, c := range t.written {
		e := end{count: c}
		if i == 0 {
			e.parts, e.before, e.inputs, e.recipe, e.job = 1, t.unread(), t.read.parts, t.read.recipe, t.job
		} else if c == (count{}) {
			continue
		}
		if err := t.putEnd(i, &e); err != nil {
			return err
		}
	}
	return nil
}

// unread returns what the ends of the input said, less what was read of it.
func (t *task) unread() count { return t.read.count.minus(t.read.before) }

func (t *task) putEnd(partition int, e *end) error {
	line := append(appendNumber(t.line[:0], uint64(partition), partDigits), endKey...)
	t.line = append(e.append(append(line, '\t')), '\n')
	_, err := t.w.Write(t.line)
	return err
}

// endCombined writes the end record of a partition that adds up, with those of the map, to what is left. It has its place
// behind the partition's other records, since what a combiner writes must be sorted.
func (t *task) endCombined(partition int) error {
	a := t.arrived[partition]
	e := a.end
	e.count.plus(t.written[partition].minus(a.count))
	return t.putEnd(partition, &e)
}

// endReduce checks that everything has arrived, and writes the end record of the results.
func (t *task) endReduce() error {
	t.results.parts = 1
	for i, a := range t.arrived {
		if err := a.end.whole(fmt.Sprintf("partition %d", i), a.count); err != nil {
			return err
		}
		if i != 0 {
			continue
		}
		if t.Parts > 0 && a.end.parts != int64(t.Parts) {
			return fmt.Errorf("%w: %d parts arrived, and there must be %d", ErrLost, a.end.parts, t.Parts)
		}
		if err := a.end.readWhole(); err != nil {
			return err
		}
		t.results.recipe = a.end.recipe
	}
	return t.endResults()
}

// endResults writes the end record of what a job results in.
func (t *task) endResults() error {
	e := t.results
	e.inputs, e.before = t.read.parts, t.unread()
	if e.recipe == "" {
		e.recipe = t.read.recipe
	}
	t.line = append(e.append(append(append(t.line[:0], endKey...), '\t')), '\n')
	_, err := t.w.Write(t.line)
	return err
}
