package document

import (
	"bytes"
	"fmt"
	"io"
)

// whole reads the file as one unit.
func (s *stream) whole(format Format) error {
	most := s.opts.MaxDocumentBytes
	if s.size > most {
		return s.tooLarge(0)
	}
	// One byte more than the file is said to have, so that its end is seen without growing; what a file
	// claims to be is trusted only as far as 1 MiB.
	var buf bytes.Buffer
	buf.Grow(int(min(s.size, 1<<20)) + bytes.MinRead)
	n, err := io.Copy(&buf, io.LimitReader(s.r, most+1))
	if err != nil {
		return fmt.Errorf("after %d bytes: %w", n, err)
	}
	if n > most {
		return s.tooLarge(0)
	}
	return s.emit(Unit{format: format, raw: buf.Bytes(), modified: s.modified})
}

// tooLarge returns the skip of a document beyond the limit.
func (s *stream) tooLarge(line int) *Skip {
	return &Skip{Source: s.file.Path, Line: line, Reason: TooLarge,
		Err: fmt.Errorf("more than %d bytes", s.opts.MaxDocumentBytes)}
}
