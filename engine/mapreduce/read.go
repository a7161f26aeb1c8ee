package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// records calls each with every record of a map's input that a job before has written, or that has its form. The
// record is good until each returns. An error of each that wraps errBadRecord makes a bad record of it; any other ends the task.
func (t *task) records(ctx context.Context, each func(r record) error) error {
	in := newLines(t.In)
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if in.n%linesPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := cut(line)
		switch {
		case errors.Is(err, errLong):
			t.counters.add(recordsIn, 1)
			err = fmt.Errorf("%w: %w", errBadRecord, err)
		case err != nil:
			return err
		case len(line) == 0:
			continue
		case string(r.key) == endKey:
			err = t.inputEnd(r.value)
		default:
			t.counters.add(recordsIn, 1)
			t.counters.add(bytesIn, int64(len(line))+1)
			t.read.before.add(r)
			if err = r.check(); err != nil {
				err = fmt.Errorf("%w: %w", errBadRecord, err)
			} else {
				err = each(r)
			}
		}
		if err != nil && !errors.Is(err, errBadRecord) {
			return err
		}
		if err != nil {
			if err := t.bad(1, fmt.Sprintf("line %d of the part", in.n), err); err != nil {
				return err
			}
		}
	}
}

// errBadRecord is what errors of a single record wrap.
var errBadRecord = errors.New("bad record")

func badf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errBadRecord, fmt.Errorf(format, args...))
}

// inputEnd adds an end record of the input.
func (t *task) inputEnd(value []byte) error {
	e, err := parseEnd(value)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadRecord, err)
	}
	t.counters.add(endRecords, 1)
	if err := e.readWhole(); err != nil {
		return err
	}
	if err := t.read.add(e); err != nil && t.beside != "" {
		return fmt.Errorf("%s, beside the map: %w", t.beside, err)
	} else if err != nil {
		return err
	}
	return nil
}

// An arrive is what came of a partition.
type arrive struct {
	count
	end end
}

// ErrOrder is what errors wrap of a reduce's input that is not sorted.
var ErrOrder = errors.New("not sorted by the bytes of the keys")

// sorted calls each with every record of a reduce's or combiner's input, in order: its partition, its key without
// that, and its value. They are good until each returns. A record that is none is an error here: a filter has written it.
func (t *task) sorted(ctx context.Context, each func(partition int, key, value []byte) error) error {
	var last []byte
	return newLines(t.In).records(ctx, func(r record) error {
		if bytes.Compare(r.key, last) < 0 {
			return fmt.Errorf("%w: %.40q comes behind %.40q", ErrOrder, r.key, last)
		}
		last = append(last[:0], r.key...)
		return t.arrival(r, each)
	})
}

// arrival counts a record that has arrived, and hands it on unless it is an end record.
func (t *task) arrival(r record, each func(partition int, key, value []byte) error) error {
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
	if t.between != nil {
		if err := t.between(partition); err != nil {
			return err
		}
	}
	a := t.arrived[partition]
	if a == nil {
		a = &arrive{}
		t.arrived[partition] = a
	}
	if string(r.key[partDigits:]) == endKey {
		e, err := parseEnd(r.value)
		if err != nil {
			return err
		}
		t.counters.add(endRecords, 1)
		if err := t.sameJob(&e); err != nil {
			return err
		}
		return a.end.add(e)
	}
	t.counters.add(recordsIn, 1)
	t.counters.add(bytesIn, int64(len(r.key)+len(r.value))+2)
	a.count.add(r)
	return each(partition, r.key[partDigits:], r.value)
}
