package format

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ndd/engine/corpus/input"
)

// Format is the format of the documents in a file.
type Format string

// The formats. Auto decides by the name and the content of each file.
const (
	Auto    Format = "auto"
	Text    Format = "text"    // the whole file is one document
	HTML    Format = "html"    // the whole file is one page
	JSONL   Format = "jsonl"   // each line is a JSON object and a document
	JSON    Format = "json"    // each JSON object is a document, in an array or one after the other
	Lines   Format = "lines"   // each line is a document
	CSV     Format = "csv"     // each record is a document, and the first record names the fields; .tsv files have tabs
	Parquet Format = "parquet" // each row is a document
	WARC    Format = "warc"    // each response, resource or conversion record is a document; WET files too

	httpResponse Format = "http" // a unit: an archived response
	anyBody      Format = "body" // a unit: an archived block whose bytes show the format
)

// endings are the name endings of files in each format.
var endings = map[Format][]string{
	Text: {".txt", ".text", ".md", ".rst", ".tex", ".c", ".cc", ".cpp", ".css",
		".go", ".h", ".java", ".js", ".py", ".rb", ".rs", ".sh", ".ts"},
	HTML:    {".html", ".htm", ".xhtml", ".shtml"},
	JSONL:   {".jsonl", ".ndjson", ".jsonlines", ".ldjson"},
	JSON:    {".json"},
	Lines:   nil,
	CSV:     {".csv", ".tsv"},
	Parquet: {".parquet"},
	WARC:    {".warc", ".wet", ".wat", ".arc"},
	Auto:    {"", ".data", ".part", ".tmp", ".out", "." + input.Stdin},
}

// hasParts reports whether the documents of a file are parts of its content, at offsets.
func (f Format) hasParts() bool {
	return f == JSONL || f == JSON || f == Lines || f == CSV || f == WARC
}

// ParseFormat reads the name of a format, as a user gives it.
func ParseFormat(name string) (Format, error) {
	f := Format(strings.ToLower(name))
	if _, ok := endings[f]; !ok {
		return "", fmt.Errorf("format %.40q: must be one of auto, text, html, jsonl, json, lines, csv, parquet, warc", name)
	}
	return f, nil
}

// formatByName returns the format for the extension of a file, without a number, a query or the extension of a
// compression after it. It returns Auto if there is no extension, and "" if the extension is unknown.
func formatByName(path string) Format {
	path, _, _ = strings.Cut(strings.ToLower(filepath.Base(path)), "?")
	path = trimNumber(path)
	for _, ending := range []string{".gz", ".gzip", ".zst", ".zstd", ".xz", ".bz2", ".z", ".lz4", ".lz"} {
		path = strings.TrimSuffix(path, ending)
	}
	path = trimNumber(path)
	for format, names := range endings {
		if slices.Contains(names, filepath.Ext(path)) {
			return format
		}
	}
	return ""
}

// trimNumber returns a name without the number that a log rotation or a second download adds to it.
func trimNumber(name string) string {
	if number := filepath.Ext(name); strings.Trim(number, ".0123456789") == "" {
		return strings.TrimSuffix(name, number)
	}
	return name
}
