package document

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// Format says how a file holds its documents.
type Format string

// The formats. Auto goes by name and content, file by file.
const (
	Auto  Format = "auto"
	Text  Format = "text"  // the whole file is one document
	HTML  Format = "html"  // the whole file is one page
	JSONL Format = "jsonl" // a JSON object a line is a document
	JSON  Format = "json"  // a JSON object is a document, in an array of them or one behind the other
	Lines Format = "lines" // a line is a document
	CSV   Format = "csv"   // a record is a document; the first one names the fields; tabs in .tsv files
	WARC  Format = "warc"  // a response, resource or conversion record is a document; WET files too

	Parquet Format = "parquet" // a row is a document

	httpResponse Format = "http" // of a unit: a response as it was archived
)

// rows says whether a file of the format holds several documents.
func (f Format) rows() bool { return f == JSONL || f == JSON || f == Lines || f == CSV || f == WARC }

// ParseFormat reads the name of a format, as a user gives it.
func ParseFormat(name string) (Format, error) {
	switch f := Format(strings.ToLower(name)); f {
	case Auto, Text, HTML, JSONL, JSON, Lines, CSV, Parquet, WARC:
		return f, nil
	}
	return "", fmt.Errorf("format %.40q: must be one of auto, text, html, jsonl, json, lines, csv, parquet, warc", name)
}

// Options say how inputs are read. The zero value reads everything by its own looks.
type Options struct {
	Format    Format  // "" is Auto
	TextField string  // JSON and CSV: field that holds the text; "" is the first of TextFields that a file's first record has. Dots lead into JSON objects.
	IDField   string  // JSON and CSV: field that holds the ID; "" is the first of IDFields likewise
	Extract   Extract // which text of a page is taken; "" is ExtractAll
	Strict    bool    // a skip that loses data is an error

	// ValueFields are names of fields, as TextField, or of a WARC record's headers: the first of them that a line or record
	// has as a string or number is the document's Value.
	ValueFields []string

	// MaxDocumentBytes bounds one document, as bytes of its decompressed file or line; longer ones are
	// skipped. 0 is DefaultMaxDocumentBytes.
	MaxDocumentBytes int64

	// Chosen, if not nil, is told of each file whose fields the options do not name and that are not called text and id. It is called
	// by the goroutine that scans.
	Chosen func(file string, f Fields)

	// ContentType is the media type that the sender of a text or page gave it, such as "text/plain; charset=koi8-r"; "" where nobody
	// did. Records of an archive have their own.
	ContentType string

	// Meter, if not nil, counts files and bytes while they are read.
	Meter *Meter
}

// DefaultMaxDocumentBytes is 64 MiB: longer than any book, short enough that a decompression bomb does no harm.
const DefaultMaxDocumentBytes = 64 << 20

// MaxIDBytes is how long an ID may be: longer ones are skipped, since no index holds them.
const MaxIDBytes = 32 << 10

// Meter counts what has been read so far. Safe for concurrent use.
type Meter struct {
	Files atomic.Int64
	Bytes atomic.Int64 // as they lie on disk, before decompression
}

// withDefaults fills in what the caller left empty and refuses what cannot be.
func (o Options) withDefaults() (Options, error) {
	if o.Format == "" {
		o.Format = Auto
	}
	if _, err := ParseFormat(string(o.Format)); err != nil {
		return o, err
	}
	if _, err := ParseExtract(string(o.Extract)); err != nil {
		return o, err
	}
	if o.MaxDocumentBytes == 0 {
		o.MaxDocumentBytes = DefaultMaxDocumentBytes
	}
	if o.MaxDocumentBytes < 0 {
		return o, fmt.Errorf("largest document of %d bytes: must not be negative", o.MaxDocumentBytes)
	}
	if o.Meter == nil {
		o.Meter = &Meter{}
	}
	return o, nil
}
