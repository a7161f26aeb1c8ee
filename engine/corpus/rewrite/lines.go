package rewrite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"sync"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
)

// ErrPacked is returned by [Lines] for an input that is compressed.
var ErrPacked = errors.New("compressed input")

// Lines copies lines of documents from in to out in one pass, without the documents that drop reports. The
// format of the configuration must be JSONL or lines. The remaining lines are copied byte for byte, broken ones
// too. Blank lines and lines longer than the configuration's MaxDocumentBytes are left out. One goroutine calls
// drop, in order. Lines holds the lines that are being fingerprinted: at most 256 MiB, or two of the longest
// documents. It returns the number of dropped documents.
func Lines(ctx context.Context, in io.Reader, out io.Writer, cfg ingest.Config,
	drop func(ingest.Record) (bool, error)) (dropped int, _ ingest.Report, _ error) {
	buffered := bufio.NewReader(in)
	head, err := buffered.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, ingest.Report{}, err
	}
	if unpack.PackingOf(head) != unpack.None {
		return 0, ingest.Report{}, ErrPacked
	}
	lines := &lineTee{in: buffered, limit: cfg.Document.MaxDocumentBytes}
	cfg.Stdin = lines
	skip := cfg.Skipped
	cfg.Skipped = func(s *input.Skip) error {
		if err := lines.copyTo(out, s.Line); err != nil || skip == nil {
			return err
		}
		return skip(s)
	}
	report, err := ingest.Run(ctx, []string{input.Stdin}, cfg, func(r ingest.Record) error {
		if err := lines.copyTo(out, r.Line-1); err != nil {
			return err
		}
		gone, err := drop(r)
		if gone {
			dropped++
			lines.copyTo(io.Discard, r.Line)
		}
		return err
	})
	if err == nil {
		err = lines.copyTo(out, math.MaxInt)
	}
	return dropped, report, err
}

// A lineTee reads an input and holds its lines until they are copied or dropped. It does not hold blank lines
// and lines longer than its limit. One goroutine may read while another one copies.
type lineTee struct {
	in    io.Reader
	limit int64

	mu      sync.Mutex
	waiting []heldLine // ascending
	line    []byte     // the line being read
	number  int        // number of lines read before this line
	tooLong bool       // the line is longer than the limit
}

// A heldLine is a line with its end, numbered from 1.
type heldLine struct {
	number int
	text   []byte
}

func (t *lineTee) Read(p []byte) (n int, err error) {
	n, err = t.in.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	for part := range bytes.Lines(p[:n]) {
		if t.tooLong = t.tooLong || int64(len(t.line)+len(part)) > t.limit+2; t.tooLong { // "\r\n" is not counted
			t.line = nil
		} else {
			t.line = append(t.line, part...)
		}
		if part[len(part)-1] == '\n' {
			t.end()
		}
	}
	if err == io.EOF {
		t.end()
	}
	return n, err
}

// end completes the current line.
func (t *lineTee) end() {
	t.number++
	if len(bytes.TrimSpace(t.line)) > 0 {
		t.waiting = append(t.waiting, heldLine{t.number, t.line})
	}
	t.line, t.tooLong = nil, false
}

// copyTo copies the lines up to a number to out.
func (t *lineTee) copyTo(out io.Writer, number int) error {
	for line := t.next(number); line != nil; line = t.next(number) {
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// next removes and returns the first line held, or returns nil if its number is above a limit.
func (t *lineTee) next(limit int) (text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 || t.waiting[0].number > limit {
		return nil
	}
	text = t.waiting[0].text
	t.waiting[0].text = nil
	t.waiting = t.waiting[1:]
	return text
}
