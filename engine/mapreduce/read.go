package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// records calls each with every record of a map's input. The record is valid until each returns. If the error of each
// wraps errBadRecord, the record counts as malformed. Any other error ends the task.
func (t *task) records(ctx context.Context, each func(r record) error) error {
	in := newLines(t.In)
	in.bad = func(err error) error {
		if errors.Is(err, errLong) {
			t.counters.add(recordsIn, 1)
		}
		return t.bad(1, fmt.Sprintf("line %d of the part", in.n), err)
	}
	return in.records(ctx, func(r record) error {
		if string(r.key) == endKey {
			return t.inputEnd(r.value)
		}
		t.counters.add(recordsIn, 1)
		t.read.Unread.add(r)
		if err := r.check(); err != nil {
			return badf("%w", err)
		}
		return each(r)
	})
}

func (t *task) inputEnd(value []byte) error {
	e, err := parseEnd(value)
	if err != nil {
		return badf("%w", err)
	}
	if err := e.checkRead(); err != nil {
		return err
	}
	err = t.read.add(e)
	if err != nil && t.sideFile != "" {
		err = fmt.Errorf("side file %s of the map: %w", t.sideFile, err)
	}
	return err
}

// An partitionCount counts the records of a partition that arrived, and adds up its end records.
type partitionCount struct {
	count
	end end
}

// ErrOrder is wrapped if a reduce's input is not sorted.
var ErrOrder = errors.New("not sorted by the bytes of the keys, as LC_ALL=C sort does (see 'ndd help cluster')")

// sorted calls each with every record of a reduce's input, in order: its key without the partition,
// and its value. They are valid until each returns. A malformed record is an error: a task of this
// package wrote it.
func (t *task) sorted(ctx context.Context, each func(key, value []byte) error) error {
	var last []byte
	return newLines(t.In).records(ctx, func(r record) error {
		if bytes.Compare(r.key, last) < 0 {
			return fmt.Errorf("%w: key %.40q follows %.40q", ErrOrder, r.key, last)
		}
		last = append(last[:0], r.key...)
		return t.arrival(r, each)
	})
}

// arrival counts a record that arrived and passes it on unless it is an end record.
func (t *task) arrival(r record, each func(key, value []byte) error) error {
	// Parse the partition.
	if err := r.check(); err != nil {
		return err
	}
	p, ok := number(r.key[:min(partDigits, len(r.key))])
	if !ok || len(r.key) <= partDigits {
		return fmt.Errorf("%.40q is no key of a shuffle: it begins with no partition", r.key)
	}
	partition := int(p)
	if partition >= t.Partitions {
		return fmt.Errorf("partition %d, and there are %d: all tasks of a job need the same number", partition, t.Partitions)
	}
	// Add up end records.
	a := t.arrived[partition]
	if a == nil {
		a = &partitionCount{}
		t.arrived[partition] = a
	}
	if string(r.key[partDigits:]) == endKey {
		e, err := parseEnd(r.value)
		if err != nil {
			return err
		}
		if err := t.sameJob(&e); err != nil {
			return err
		}
		return a.end.add(e)
	}
	// Count other records, and pass them on.
	t.counters.add(recordsIn, 1)
	a.count.add(r)
	return each(r.key[partDigits:], r.value)
}

// distinct calls each with every distinct key of a reduce's input, in order, and its value. It is for jobs whose keys
// have one value each. A record that arrives twice counts once.
func (t *task) distinct(ctx context.Context, each func(key, value []byte) error) error {
	var last []byte
	return t.sorted(ctx, func(key, value []byte) error {
		if bytes.Equal(key, last) {
			return nil
		}
		last = append(last[:0], key...)
		return each(key, value)
	})
}
