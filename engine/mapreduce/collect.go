package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ndd/engine/result"
)

// ErrUnfinished is wrapped if another round of the job dedup is needed.
var ErrUnfinished = errors.New("not finished")

// ErrSkipped is wrapped if maps skipped bad records. The output has everything else.
var ErrSkipped = errors.New("done in part")

// Collect reads the results of all tasks of a job's last step, in any order, checks that they are
// complete, and writes them as the commands that run on one machine do: fields separated by tabs, IDs
// unescaped. If o.Parts is not 0, exactly that number of tasks must have written results. The error wraps [ErrLost] if
// a record is missing or came twice, and [ErrUnfinished] if documents are undecided after a round of the job dedup.
//
// It writes while it reads, unless o.Copies is set: the output is valid only if it returns no error.
func Collect(ctx context.Context, o Options) error {
	o.Partitions = 1
	bad := int64(0)
	err := run(ctx, o, "collect", "", collect, func(t *task) error { bad = t.results.Bad; return nil })
	if err == nil && bad > 0 {
		err = fmt.Errorf("%w: bad records that maps skipped: %d", ErrSkipped, bad)
	}
	return err
}

// collect checks and writes the results, and sets t.results.Bad to the number of bad records.
func collect(ctx context.Context, t *task) error {
	// Choose the form of the output.
	put, finish := func(record) error { _, err := t.w.Write(t.line); return err }, func() error { return nil }
	if t.Rows != "" {
		rows := &likeRows{t: t}
		put, finish = rows.add, rows.close
	}
	var all end
	if t.Copies != nil {
		rows, err := newCopyRows(ctx, t)
		if err != nil {
			return err
		}
		put, finish, all.Recipe = rows.add, rows.write, t.read.Recipe
	}
	// Read all results, and add up their end records.
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
		if t.Rows == "" {
			if err := t.plain(r); err != nil {
				return err
			}
		}
		return put(r)
	})
	// Check that all results arrived.
	if err == nil {
		err = all.checkFinal(arrived, t.Parts)
	}
	if err != nil {
		return err
	}
	t.results.Bad = all.Bad
	return finish()
}

// checkFinal returns an error unless all records of the parts arrived.
func (e *end) checkFinal(arrived count, parts int) error {
	if err := e.checkWhole("the results", arrived); err != nil {
		return err
	}
	if parts > 0 && e.Parts != int64(parts) {
		return fmt.Errorf("%w: %d parts came, and there must be %d", ErrLost, e.Parts, parts)
	}
	if e.Parts == 0 {
		return fmt.Errorf("%w: there is no end record", ErrLost)
	}
	if err := e.checkRead(); err != nil {
		return err
	}
	if e.Undecided > 0 {
		return fmt.Errorf("%w: after round %d of the job dedup %d documents are undecided: another round of the jobs pairs and dedup is "+
			"needed", ErrUnfinished, e.Documents, e.Undecided)
	}
	return nil
}

// plain sets t.line to a result as a line of a command.
func (t *task) plain(r record) error {
	t.line = t.line[:0]
	t.fields = slices.AppendSeq(append(t.fields[:0], r.key), bytes.SplitSeq(r.value, []byte(" ")))
	for i, field := range t.fields {
		if i > 0 && i == t.Columns {
			break
		}
		if i > 0 {
			t.line = append(t.line, '\t')
		}
		field = bytes.TrimSuffix(field, []byte{'\r'})
		if bytes.IndexByte(field, '\\') < 0 {
			t.line = append(t.line, field...)
			continue
		}
		text, err := unescape(field)
		if err != nil {
			return err
		}
		t.line = append(t.line, result.Escape(text)...)
	}
	t.line = append(t.line, '\n')
	return nil
}
