package format

import (
	"errors"
	"fmt"
	"io"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
)

// With a wrong Content-Length, a block ends too early or within a later record. If no record follows a block, its bytes
// return to the stream. A search from there finds the next line that begins a record:
//
//	content  | record | rec¦ord      | record |         the length ends at ¦
//	                  ^ Skip.Offset        ^ Skip.End               the skip is input.Broken, and a copy keeps these bytes
//
// Only the first such block of a file is read again. After that, each block ends at a line that seems to begin a
// record, so that the time is linear. The content of a damaged gzip member is not reliable, so reading resumes at the
// next member (members.go).

// next returns the unit of the next record, or a skip, or io.EOF at the end of the file. All other errors name the
// place.
func (w *warcReader) next() (Unit, error) {
	u, err := w.record()
	if errors.Is(err, unpack.ErrDamaged) || errors.As(err, new(foreignError)) {
		err = w.resume(err)
	}
	if err != nil {
		return Unit{Line: w.line, From: w.complete}, err
	}
	return u, nil
}

// resume continues at the next record, or at the next member after a damaged gzip member. It returns the skip of the
// part before it, or cause if nothing follows.
func (w *warcReader) resume(cause error) error {
	found, err := w.untilRecord(io.Discard, w.c.opts.MaxDocumentBytes)
	switch {
	case found:
		return &input.Skip{Line: w.line, Offset: w.complete, End: w.c.r.Offset(), Reason: input.Broken,
			Err: fmt.Errorf("%w; reading resumes at byte %d, where the next record begins", cause, w.c.r.Offset())}
	case err == nil && !errors.As(cause, new(foreignError)):
		return &input.Skip{Line: w.line, Offset: w.complete, End: w.c.r.Offset(), Reason: input.Broken,
			Err: fmt.Errorf("%w; no record begins before byte %d", cause, w.c.r.Offset())}
	case w.c.r.Packing != unpack.Gzip || !errors.Is(err, unpack.ErrDamaged):
		return cause
	}
	// Ignore records of the damaged member, except those that the caller already has.
	offset := max(w.handed, min(w.complete, w.c.r.DamagedFrom()))
	w.complete = offset
	raw, err := w.c.r.Resume(offset, warcPrefix)
	if errors.Is(err, io.EOF) {
		return cause
	}
	if err != nil {
		return err
	}
	return &input.Skip{Line: w.line, Offset: offset, ResumedAt: raw, Reason: input.Unreadable,
		Err: fmt.Errorf("%w: left out up to byte %d of the file, where the next record begins", cause, raw)}
}
