package mapreduce

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// lineMax is the maximum length of a line. Frameworks have similar limits.
const lineMax = 64 << 20

// errBadRecord is wrapped by errors of a single malformed record.
var errBadRecord = errors.New("bad record")

func badf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errBadRecord, fmt.Errorf(format, args...))
}

// errLong is the error of a line of more than lineMax bytes, which is skipped.
var errLong = badf("a line of more than 64 MiB")

// A lines reads lines of up to lineMax bytes.
type lines struct {
	r    *bufio.Reader
	long []byte
	n    uint64 // lines read

	// bad handles malformed records, and returns nil to continue. If bad is nil, a malformed record ends the reading.
	bad func(error) error
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 1<<16)} }

// next returns the next line without its end, valid until the next call, [io.EOF] after the last
// one, or errLong for a line that it skipped.
func (l *lines) next() ([]byte, error) {
	l.long = l.long[:0]
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if tooLong = tooLong || len(l.long)+len(part) > lineMax; !tooLong {
				l.long = append(l.long, part...)
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(part) == 0 && len(l.long) == 0 && !tooLong {
			return nil, io.EOF
		}
		l.n++
		if tooLong || len(l.long)+len(part) > lineMax {
			return nil, errLong
		}
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		part = bytes.TrimSuffix(part, []byte{'\n'})
		return bytes.TrimSuffix(part, []byte{'\r'}), nil
	}
}

// linesPerLook is the number of lines between two checks of the context.
const linesPerLook = 256

// records calls each with the record of every line that is not empty, in order. The record is valid
// until each returns.
func (l *lines) records(ctx context.Context, each func(r record) error) error {
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil && l.n%linesPerLook == 0 && ctx.Err() != nil:
			return ctx.Err()
		case err == nil && len(line) > 0:
			err = each(cut(line))
		}
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
}
