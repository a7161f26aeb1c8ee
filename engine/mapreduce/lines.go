package mapreduce

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// lineMax is the longest line that is read. A framework's own limit is about as high.
const lineMax = 64 << 20

// errLong is the error of a line beyond lineMax, which is left behind.
var errLong = errors.New("a line of more than 64 MiB")

// lines reads lines of any length up to lineMax. Of an empty input there are none.
type lines struct {
	r    *bufio.Reader
	long []byte
	n    uint64 // lines read
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 1<<16)} }

// next returns the next line without its end, good until the next call; [io.EOF] behind the last one; or
// errLong for a line that it leaves behind.
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

// linesPerLook is after how many lines the context is looked at.
const linesPerLook = 256

// records calls each with the record of every line but empty ones, in order. The record is good until each returns.
// Errors of each say at which line it was; a line beyond lineMax is an error, too.
func (l *lines) records(ctx context.Context, each func(r record) error) error {
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && l.n%linesPerLook == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		if err := each(cut(line)); err != nil {
			return fmt.Errorf("line %d: %w", l.n, err)
		}
	}
}
