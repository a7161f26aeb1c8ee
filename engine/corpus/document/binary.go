package document

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrBinary is wrapped by the [Skip] of a file that should be text and is not, as far as it can be told: naming its
// format has it read all the same.
var ErrBinary = errors.New("binary")

// signatures are how files begin that are no text, though they may go without a zero byte for a while.
var signatures = []struct{ magic, what string }{
	{"%PDF-", "a PDF document"},
	{"\x89PNG", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"GIF8", "a GIF image"},
	{"PK\x03\x04", "a ZIP archive, as .zip, .docx, .xlsx and .epub are"},
	{"\x7fELF", "a program"},
	{"7z\xbc\xaf", "a 7-Zip archive"},
	{"Rar!\x1a", "a RAR archive"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"nddhead\n", "a file that ndd wrote: of fingerprints, or part of an index"},
}

// tarMagic is in a tar archive, tarAt bytes from its beginning.
const (
	tarMagic = "ustar"
	tarAt    = 257
)

// signature returns what a file is that is no text, by how it begins; "" where that does not tell.
func signature(head []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return s.what
		}
	}
	if len(head) > tarAt && bytes.HasPrefix(head[tarAt:], []byte(tarMagic)) {
		return "a tar archive"
	}
	return ""
}

// isBinary tells bytes that are no text in any encoding that package document reads: a zero byte where no
// byte order mark explains it, or a signature.
func isBinary(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return false
	}
	return bytes.IndexByte(head, 0) >= 0 || signature(head) != ""
}

// binary returns the skip of a file that is no text. Folders hold such; in the place of a file that the user named, or of
// one whose name promises lines or records, it is a loss.
func (s *stream) binary(format Format, head []byte) *Skip {
	if s.file.inFolder() && format != JSONL && format != CSV && format != WARC {
		return &Skip{Source: s.file.Path, Reason: Binary}
	}
	what := signature(head)
	if what == "" {
		what = "it has zero bytes"
	}
	return &Skip{Source: s.file.Path, Reason: Unreadable, Err: fmt.Errorf("%w: %s", ErrBinary, what)}
}
