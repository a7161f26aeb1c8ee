package mapreduce

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// lineMax is the longest line that is read. A framework's own limit is about as high.
const lineMax = 64 << 20

// errBadRecord is wrapped by errors of a single malformed record.
var errBadRecord = errors.New("bad record")

func badf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errBadRecord, fmt.Errorf(format, args...))
}

// A lines reads lines of up to lineMax bytes.
type lines struct {
	*bufio.Scanner
	n uint64 // lines read

	// bad handles malformed records, and returns nil to go on. If it is nil they end the reading.
	bad func(error) error
}

func newLines(r io.Reader) *lines {
	l := &lines{Scanner: bufio.NewScanner(r)}
	l.Buffer(make([]byte, 1<<16), lineMax)
	return l
}

// linesPerLook is the number of lines between two checks of the context.
const linesPerLook = 256

// records calls each with the record of every line that is not empty, in order. The record is valid
// until each returns.
func (l *lines) records(ctx context.Context, each func(r record) error) error {
	for l.Scan() {
		l.n++
		if l.n%linesPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(l.Bytes()) == 0 {
			continue
		}
		err := each(cut(l.Bytes()))
		if err != nil && l.bad == nil {
			return fmt.Errorf("line %d: %w", l.n, err)
		}
		if errors.Is(err, errBadRecord) {
			err = l.bad(err)
		}
		if err != nil {
			return err
		}
	}
	if errors.Is(l.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d has more than %d MiB", l.n+1, lineMax>>20)
	}
	return l.Err()
}
