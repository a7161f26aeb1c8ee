package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"ndd/engine/result"
)

// ErrUnfinished is what errors wrap of the results of a round after which more are needed.
var ErrUnfinished = errors.New("not finished")

// Collect reads what all tasks of a job's last step have written, in any order, checks that it is whole, and writes it as the
// commands of one machine do: fields separated by tabs, IDs as they are. If o.Parts is not 0, there must have been so
// many tasks. The error wraps [ErrLost] if something is missing or came twice, and ErrUnfinished if it is of a round of the job cluster
// that has changed something.
//
// It writes while it reads: only when it returns no error is what was written the result.
func Collect(ctx context.Context, o Options) error {
	o.Partitions = 1
	t, err := newTask(o)
	if err != nil {
		return err
	}
	return t.run(ctx, "collect", func(ctx context.Context) error { return t.collect(ctx) })
}

func (t *task) collect(ctx context.Context) error {
	var all end
	var arrived count
	err := newLines(t.In).records(ctx, func(r record) error {
		if string(r.key) == endKey {
			e, err := parseEnd(r.value)
			if err != nil {
				return err
			}
			return all.add(e)
		}
		arrived.add(r)
		t.counters.add(recordsIn, 1)
		return t.plain(r)
	})
	if err != nil {
		return err
	}
	return all.final(arrived, t.Parts)
}

// final returns an error unless so much is all of the parts.
func (e *end) final(arrived count, parts int) error {
	if err := e.whole("the results", arrived); err != nil {
		return err
	}
	if parts > 0 && e.parts != int64(parts) {
		return fmt.Errorf("%w: %d parts came, and there must be %d", ErrLost, e.parts, parts)
	}
	if e.parts == 0 {
		return fmt.Errorf("%w: there is no end record", ErrLost)
	}
	if err := e.readWhole(); err != nil {
		return err
	}
	if e.changed > 0 {
		return fmt.Errorf("%w: the round has changed %d edges", ErrUnfinished, e.changed)
	}
	return nil
}

// plain writes a result as a line of a command.
func (t *task) plain(r record) error {
	t.line = t.line[:0]
	write := func(field []byte) error {
		if field = bytes.TrimSuffix(field, []byte{'\r'}); len(t.line) > 0 {
			t.line = append(t.line, '\t')
		}
		if bytes.IndexByte(field, '\\') < 0 {
			t.line = append(t.line, field...)
			return nil
		}
		text, err := unescape(field)
		t.line = append(t.line, result.Escape(text)...)
		return err
	}
	if err := write(r.key); err != nil {
		return err
	}
	columns := 1
	for field := range bytes.SplitSeq(r.value, []byte(" ")) {
		if columns++; t.Columns > 0 && columns > t.Columns {
			break
		}
		if err := write(field); err != nil {
			return err
		}
	}
	_, err := t.w.Write(append(t.line, '\n'))
	return err
}
