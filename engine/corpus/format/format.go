package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ndd/engine/corpus/input"
	"ndd/engine/corpus/magic"
	"ndd/engine/corpus/text"
)

// Format is how a file holds its documents.
type Format string

// The formats. Auto goes by name and content, file by file.
const (
	Auto    Format = "auto"
	Text    Format = "text"    // the whole file is one document
	HTML    Format = "html"    // the whole file is one page
	JSONL   Format = "jsonl"   // a JSON object a line is a document
	JSON    Format = "json"    // a JSON object is a document, in an array of them or one behind the other
	Lines   Format = "lines"   // a line is a document
	CSV     Format = "csv"     // a record is a document; the first one names the fields; tabs in .tsv files
	Parquet Format = "parquet" // a row is a document
	WARC    Format = "warc"    // a response, resource or conversion record is a document; WET files too

	httpResponse Format = "http" // of a unit: a response as it was archived
	anyBody      Format = "body" // of a unit: an archived block of which the bytes say the format
)

// formats are the formats that files have. cut yields the units of an open file, each of which can
// be extracted without the others.
var formats = map[Format]struct {
	cut     func(*stream) error
	rows    bool     // the file holds several documents, at offsets
	endings []string // of names
}{
	Text: {cut: (*stream).whole, endings: []string{".txt", ".text", ".md", ".rst", ".tex", ".c", ".cc", ".cpp", ".css",
		".go", ".h", ".java", ".js", ".py", ".rb", ".rs", ".sh", ".ts"}},
	HTML:    {cut: (*stream).whole, endings: []string{".html", ".htm", ".xhtml", ".shtml"}},
	JSONL:   {cut: (*stream).jsonLines, rows: true, endings: []string{".jsonl", ".ndjson", ".jsonlines", ".ldjson"}},
	JSON:    {cut: (*stream).jsonObjects, rows: true, endings: []string{".json"}},
	Lines:   {cut: (*stream).jsonLines, rows: true},
	CSV:     {cut: (*stream).records, rows: true, endings: []string{".csv", ".tsv"}},
	Parquet: {cut: (*stream).parquetRows, endings: []string{".parquet"}},
	WARC:    {cut: (*stream).warcRecords, rows: true, endings: []string{".warc", ".wet", ".wat", ".arc"}},
	Auto:    {endings: []string{"", ".data", ".part", ".tmp", ".out", "." + input.Stdin}},
}

// ParseFormat reads the name of a format, as a user gives it.
func ParseFormat(name string) (Format, error) {
	f := Format(strings.ToLower(name))
	if _, ok := formats[f]; !ok {
		return "", fmt.Errorf("format %.40q: must be one of auto, text, html, jsonl, json, lines, csv, parquet, warc", name)
	}
	return f, nil
}

// formatByName returns the format of a file by its extension, or by the one before a number, a query or a
// compression's; Auto if there is none, and "" if it is not known.
func formatByName(path string) Format {
	path, _, _ = strings.Cut(strings.ToLower(filepath.Base(path)), "?")
	path = trimNumber(path)
	for _, packed := range []string{".gz", ".gzip", ".zst", ".zstd", ".xz", ".bz2", ".z", ".lz4", ".lz"} {
		path = strings.TrimSuffix(path, packed)
	}
	path = trimNumber(path)
	for format, f := range formats {
		if slices.Contains(f.endings, filepath.Ext(path)) {
			return format
		}
	}
	return ""
}

// trimNumber returns a name without the number that a rotation of logs or a second download adds to it.
func trimNumber(name string) string {
	if number := filepath.Ext(name); strings.Trim(number, ".0123456789") == "" {
		return strings.TrimSuffix(name, number)
	}
	return name
}

// detect returns the format of the stream: that of the options, else that of the name's extension,
// else the one that the first bytes look like, else text. Bytes that are no text are a skip.
func (s *stream) detect() (Format, error) {
	head, err := s.r.Peek(text.LooksBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return "", err // else it comes again when the bytes before it have been read
	}
	if s.opts.Format != Auto && !s.inFolder() {
		return s.opts.Format, nil
	}
	var format Format
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		format = Parquet
	case bytes.HasPrefix(head, []byte(warcPrefix)):
		format = WARC
	default:
		format = formatByName(s.file.Path)
		if text.IsBinary(head) {
			return "", s.binary(format, head)
		}
	}
	switch {
	case s.opts.Format != Auto:
		return s.opts.Format, nil
	case format == Auto:
		return s.guessed(formatByLooks(head, &s.opts)), nil
	case format == "":
		if format = formatByLooks(head, &s.opts); format != HTML && !s.opts.showsRecords(format, text.TrimHead(head)) {
			format = Text
		}
		return s.guessed(format), nil
	case format == JSON && len(text.TrimHead(head)) > 0:
		return jsonFormat(head, &s.opts, Text), nil
	}
	return format, nil
}

// guessed counts a file whose first bytes say its format.
func (s *stream) guessed(format Format) Format {
	if format != Text {
		s.opts.Meter.AddGuess(string(format), s.file.Path)
	}
	return format
}

// formatByLooks guesses from the first bytes of a file without an extension.
func formatByLooks(head []byte, o *Options) Format {
	if text.IsPage(head) {
		return HTML
	}
	return jsonFormat(head, o, JSONL)
}

// jsonFormat distinguishes JSON lines, a JSON array and JSON objects over several lines from a file
// that is one document. An array of objects is JSON. An object is only where it shows a text, as a
// folder holds many that are settings; one that a line holds whole, with others behind it or not,
// is single, unless it shows a text.
func jsonFormat(head []byte, o *Options, single Format) Format {
	head = text.TrimHead(head)
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
	whole = whole || len(head) < text.LooksBytes/2 // the file ends without a line end
	isObject, err := jsonMembers(line, func(_, _ []byte) {})
	isObject = isObject && err == nil && whole
	switch {
	case isObject && (len(bytes.TrimSpace(rest)) > 0 || o.showsText(line)):
		return JSONL
	case isObject:
		return single
	case !whole && o.showsText(line): // a first line longer than what was peeked at
		return JSONL
	case whole && o.showsText(head):
		return JSON
	}
	return Text
}

// showsRecords reports whether the first bytes of a file show a text in its first JSON object, or are lines of JSON
// objects, and one shows a text.
func (o *Options) showsRecords(format Format, head []byte) (shows bool) {
	member := func(name, value []byte) {
		isText := format != JSON || o.TextField != "" || bytes.HasPrefix(value, []byte(`"`))
		shows = shows || isText && o.showsText([]byte(`"`+string(name)+`"`))
	}
	if format == JSON {
		jsonMembers(bytes.TrimPrefix(head, []byte("[")), member)
		return shows
	}
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		isObject, err := jsonMembers(line, member)
		if !isObject || err != nil && bytes.HasSuffix(line, []byte("\n")) {
			return false
		}
	}
	return shows
}

// binary returns the skip of a file that is not text, unless the user names its format. It loses no
// data in a folder, unless the file's name promises lines or records.
func (s *stream) binary(format Format, head []byte) *input.Skip {
	if s.inFolder() && format != JSONL && format != CSV && format != WARC {
		return &input.Skip{Reason: input.Binary}
	}
	what, advice := cmp.Or(magic.Format(head), "it has zero bytes"), "if it is text, give its --input-format"
	if strings.HasPrefix(what, "compressed") {
		advice = "decompress it first"
	}
	return &input.Skip{Reason: input.Unreadable, Err: fmt.Errorf("binary: %s; %s", what, advice)}
}
