package format

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
)

// A wrong Content-Length ends a block within it, or within a later record. A block that no other record
// follows goes back into the stream, which is searched from there on for a line that begins a record:
//
//	content  | record | rec¦ord      | record |         the length ends at ¦
//	                  ^ input.Skip.At      ^ input.Skip.To          the skip is input.Broken, and a copy keeps these bytes
//
// Only the first one of a file goes back. After that, each block ends where a record seems to begin in it,
// so that the time is linear. Where a member of a gzip file is damaged, its content tells nothing, and
// reading resumes at the next member (members.go).

// warcRecords yields one unit a record that holds a page.
func warcRecords(c *Content) iter.Seq2[Unit, error] { return each((&warc{c: c}).next) }

// next returns the unit of the next record, or a skip, or io.EOF at the end of the file. All other errors say where.
func (w *warc) next() (Unit, error) {
	u, err := w.record()
	if errors.Is(err, unpack.ErrDamaged) || errors.As(err, new(foreign)) {
		err = w.resume(err)
	}
	if err != nil {
		return Unit{Line: w.line, From: w.good}, err
	}
	return u, nil
}

// resume continues at the next record, or after a damaged member of a gzip file at the next member. It
// returns the skip of the part before it, or the cause where nothing follows.
func (w *warc) resume(cause error) error {
	found, err := w.untilRecord(io.Discard, w.c.opts.MaxDocumentBytes)
	switch {
	case found:
		return &input.Skip{Line: w.line, At: w.good, To: w.c.r.Offset(), Reason: input.Broken,
			Err: fmt.Errorf("%w; reading resumes at byte %d, where the next record begins", cause, w.c.r.Offset())}
	case err == nil && !errors.As(cause, new(foreign)):
		return &input.Skip{Line: w.line, At: w.good, To: w.c.r.Offset(), Reason: input.Broken,
			Err: fmt.Errorf("%w; no record begins before byte %d", cause, w.c.r.Offset())}
	case w.c.r.Packing != unpack.Gzip || !errors.Is(err, unpack.ErrDamaged):
		return cause
	}
	// A record that could be read of a damaged member is none, unless it has been handed on.
	at := max(w.handed, min(w.good, w.c.r.DamagedFrom()))
	w.good = at
	raw, err := w.c.r.Resume(at, warcPrefix)
	if errors.Is(err, io.EOF) {
		return cause
	}
	if err != nil {
		return err
	}
	return &input.Skip{Line: w.line, At: at, ResumedAt: raw, Reason: input.Unreadable,
		Err: fmt.Errorf("%w: left out up to byte %d of the file, where the next record begins", cause, raw)}
}
