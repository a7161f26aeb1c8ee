package format

import (
	"errors"
	"fmt"
	"io"
	"regexp"

	"ndd/engine/corpus/input"
	"ndd/engine/corpus/unpack"
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

// recordStart is how a record begins. It has at most recordStartBytes.
var recordStart = regexp.MustCompile(`WARC/\d\.\d{1,2}\r?\n[A-Za-z-]{1,40}:`)

const recordStartBytes = 64

// resume continues at the next record, or behind a damaged member of a gzip file at the next member. It
// returns the skip of the part before it, or the cause where nothing follows.
func (s *warc) resume(cause error) error {
	found, err := s.untilRecord(io.Discard, s.opts.MaxDocumentBytes)
	switch {
	case found:
		return &input.Skip{Line: s.line, At: s.good, To: s.r.Offset(), Reason: input.Broken,
			Err: fmt.Errorf("%w; reading resumes at byte %d, where the next record begins", cause, s.r.Offset())}
	case err == nil && !errors.As(cause, new(foreign)):
		return &input.Skip{Line: s.line, At: s.good, To: s.r.Offset(), Reason: input.Broken,
			Err: fmt.Errorf("%w; no record begins before byte %d", cause, s.r.Offset())}
	case s.r.Packing != unpack.Gzip || !errors.Is(err, unpack.ErrDamaged):
		return cause
	}
	// A record that could be read of a damaged member is none, unless it has been handed on.
	at := max(s.handed, min(s.good, s.r.DamagedFrom()))
	s.good = at
	raw, err := s.r.Resume(at, warcPrefix)
	if errors.Is(err, io.EOF) {
		return cause
	}
	if err != nil {
		return err
	}
	return &input.Skip{Line: s.line, At: at, ResumedAt: raw, Reason: input.Unreadable,
		Err: fmt.Errorf("%w: left out up to byte %d of the file, where the next record begins", cause, raw)}
}

// untilRecord passes up to length bytes on to w, and stops before a line that begins a record.
func (s *warc) untilRecord(w io.Writer, length int64) (found bool, err error) {
	before := byte('\n')
	for length > 0 {
		ahead, err := s.r.Peek(recordStartBytes)
		if len(ahead) == 0 {
			return false, err
		}
		n := len(ahead)
		if err == nil {
			ahead, _ = s.r.Peek(s.r.Buffered())
			n = len(ahead) - recordStartBytes + 1 // the others may begin a record that goes on behind them
		}
		n = int(min(int64(n), length))
		for _, m := range recordStart.FindAllIndex(ahead, -1) {
			at := m[0]
			if at < n && (at == 0 && before == '\n' || at > 0 && ahead[at-1] == '\n' ||
				s.r.BeginsMember(s.r.Offset()+int64(at))) {
				n, found = at, true
				break
			}
		}
		if n > 0 {
			before = ahead[n-1]
		}
		if _, err := w.Write(ahead[:n]); err != nil || found && n == 0 {
			return found, err
		}
		s.r.Discard(n)
		if found {
			return true, nil
		}
		length -= int64(n)
	}
	return false, nil
}
