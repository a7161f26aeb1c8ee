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
		format = FormatByName(s.file.Path)
		if isBinary(head) {
			return "", s.binary(format, head)
		}
	}
	switch {
	case s.opts.Format != Auto:
		return s.opts.Format, nil
	case format == Auto:
		return formatByLooks(head, &s.opts), nil
	case format == JSON:
		return jsonFormat(head, &s.opts, Text), nil
	}
	return format, nil
}

// FormatByName returns the format of a file by its extension, or by the one under a compression's; Auto if that says nothing.
func FormatByName(path string) Format {
	path = strings.ToLower(path)
	for _, packed := range []string{".gz", ".gzip", ".zst", ".zstd", ".xz", ".bz2"} {
		path = strings.TrimSuffix(path, packed)
	}
	switch filepath.Ext(path) {
	case ".html", ".htm", ".xhtml", ".shtml":
		return HTML
	case ".jsonl", ".ndjson":
		return JSONL
	case ".json":
		return JSON
	case ".csv", ".tsv":
		return CSV
	case ".parquet":
		return Parquet
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
		return Parquet, true
	case bytes.HasPrefix(head, []byte("WARC/")):
		return WARC, true
	}
	return "", false
}

// formatByLooks guesses from the first bytes of a file without an extension.
func formatByLooks(head []byte, o *Options) Format {
	head = trimHead(head)
	lower := bytes.ToLower(head[:min(len(head), 64)])
	for _, start := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if bytes.HasPrefix(lower, []byte(start)) {
			return HTML
		}
	}
	return jsonFormat(head, o, JSONL)
}

func trimHead(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n\f")
}

// jsonFormat tells JSON lines, a JSON array and JSON objects over several lines from a file that is one document. An
// array of objects is JSON. An object is only where it shows a text, as a folder holds many that are settings; one that a line holds
// whole, with others behind it or not, is single, unless it shows a text.
func jsonFormat(head []byte, o *Options, single Format) Format {
	head = trimHead(head)
	if bytes.HasPrefix(head, []byte("[")) {
		if bytes.HasPrefix(bytes.TrimLeft(head[1:], " \t\r\n"), []byte("{")) {
			return JSON
		}
		return Text
	}
	if !bytes.HasPrefix(head, []byte("{")) {
		return Text
	}
	line, rest, whole := bytes.Cut(head, []byte("\n"))
	whole = whole || len(head) < peekBytes/2 // the file ends without a line end
	v, err := fastjson.ParseBytes(line)
	switch {
	case whole && err == nil && v.Type() == fastjson.TypeObject && (len(bytes.TrimSpace(rest)) > 0 || o.showsText(line)):
		return JSONL
	case whole && err == nil && v.Type() == fastjson.TypeObject:
		return single
	case !whole && o.showsText(line): // a first line longer than what was peeked at
		return JSONL
	case whole && o.showsText(head):
		return JSON
	}
	return Text
}
