package document

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/valyala/fastjson"
)

// detect tells the format of the stream: what the options say, else what the name's extension says, else
// what the first bytes look like, else text. Bytes that are no text are a skip.
func (s *stream) detect() (Format, error) {
	head, err := s.r.Peek(peekBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		if len(head) == 0 {
			return "", err
		}
		// The error comes again when the bytes before it have been read.
	}
	if s.opts.Format != Auto && !s.file.inFolder() {
		return s.opts.Format, nil
	}
	format, known := formatByMagic(head)
	if !known {
		format = formatByName(s.file.Path)
		if isBinary(head) {
			return "", s.binary(format)
		}
	}
	switch {
	case s.opts.Format != Auto:
		return s.opts.Format, nil
	case format == Auto:
		return formatByLooks(head, s.opts.TextField), nil
	case s.file.inFolder() && !holdsField(format, s.file.Path, head, s.opts.TextField):
		return Text, nil
	}
	return format, nil
}

// binary is the skip of a file that is no text. Folders hold such; in the place of a file that the user named, or of
// one whose name promises lines or records, it is a loss.
func (s *stream) binary(format Format) *Skip {
	if s.file.inFolder() && format != JSONL && format != CSV && format != WARC {
		return &Skip{Source: s.file.Path, Reason: Binary}
	}
	return &Skip{Source: s.file.Path, Reason: Unreadable, Err: errBinary}
}

var errBinary = errors.New("binary: zero bytes, or the signature of a format that is no text; if it is text, say its --format")

// holdsField tells whether the first line or record of a file of lines or records shows the text field. A
// folder of other things holds tables that are not meant as documents by the record, as Go's source tree
// does: such a file is one document. A file that the user named is taken at its word.
func holdsField(format Format, path string, head []byte, field string) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	line, _, whole := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	switch format {
	case JSONL:
		top, _, _ := strings.Cut(field, ".")
		if !whole && len(head) >= peekBytes/2 {
			return bytes.Contains(line, []byte(`"`+top+`"`))
		}
		v, err := fastjson.ParseBytes(line)
		return err == nil && (v.Exists(field) || v.Exists(top))
	case CSV:
		for _, name := range strings.Split(string(line), separator(path)) {
			if strings.Trim(name, "\" \r") == field {
				return true
			}
		}
		return false
	}
	return true
}

// formatByName goes by the extension under a compression's one; Auto if it says nothing.
func formatByName(path string) Format {
	path = strings.ToLower(path)
	for _, packed := range []string{".gz", ".gzip", ".zst", ".zstd"} {
		path = strings.TrimSuffix(path, packed)
	}
	switch filepath.Ext(path) {
	case ".html", ".htm", ".xhtml", ".shtml":
		return HTML
	case ".jsonl", ".ndjson":
		return JSONL
	case ".csv", ".tsv":
		return CSV
	case ".parquet":
		return parquet
	case ".warc", ".wet", ".wat", ".arc":
		return WARC
	case "", ".data", ".part", ".tmp", ".out", "." + Stdin:
		return Auto
	}
	return Text
}

// formatByMagic knows the formats that say what they are.
func formatByMagic(head []byte) (Format, bool) {
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		return parquet, true
	case bytes.HasPrefix(head, []byte("WARC/")):
		return WARC, true
	}
	return "", false
}

// formatByLooks guesses from the first bytes of a file without an extension.
func formatByLooks(head []byte, textField string) Format {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	head = bytes.TrimLeft(head, " \t\r\n\f")
	lower := bytes.ToLower(head[:min(len(head), 64)])
	for _, start := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if bytes.HasPrefix(lower, []byte(start)) {
			return HTML
		}
	}
	if !bytes.HasPrefix(head, []byte("{")) {
		return Text
	}
	line, _, whole := bytes.Cut(head, []byte("\n"))
	if !whole && len(head) < peekBytes/2 {
		whole = true // the file ends without a line end
	}
	if !whole {
		// A first line longer than what was peeked at: JSON lines if it shows the text field's name.
		if bytes.Contains(line, []byte(`"`+textField+`"`)) {
			return JSONL
		}
		return Text
	}
	if v, err := fastjson.ParseBytes(line); err == nil && v.Type() == fastjson.TypeObject {
		return JSONL
	}
	return Text
}

// isBinary tells bytes that are no text in any encoding that package document reads: a zero byte where no
// byte order mark explains it, or the signature of a format that may go without one for a while.
func isBinary(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return false
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	for _, magic := range []string{"%PDF-", "\x89PNG", "\xff\xd8\xff", "GIF8", "PK\x03\x04", "\x7fELF", "BZh", "\xfd7zXZ", "7z\xbc\xaf"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}
