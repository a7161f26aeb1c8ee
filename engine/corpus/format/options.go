package format

import (
	"fmt"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/text"
	"example.org/ndd/engine/corpus/unpack"
)

// Options configures reading. The zero value detects formats and fields.
type Options struct {
	Format Format // "" is Auto
	// JSON, CSV and Parquet: the field that holds the text, or several with commas: then the first one that a record
	// has. "" is the first of TextFields that most of a file's first 1,000 records have. Dots lead into objects.
	TextField string
	// PreferText are names of fields that are looked for before TextFields.
	PreferText []string
	IDField    string          // JSON and CSV: field that holds the ID; "" is the first of IDFields likewise
	Extract    text.Extraction // which text of a page is taken; "" is ExtractAll
	Strict     bool            // a skip that loses data is an error

	// ValueFields are lists of names of fields, as TextField, or of a WARC record's headers: of each
	// list, the first that a line or record has as a string or number is one of the document's Values.
	ValueFields [][]string
	FirstValue  bool // of several values of such a field, as of a list, the first one counts; else none

	// MaxDocumentBytes bounds one document, as bytes of its decompressed file or line; longer ones
	// are skipped. 0 is DefaultMaxDocumentBytes.
	MaxDocumentBytes int64
	ShortOfMemory    bool // MaxDocumentBytes is lower than asked for, because there is little memory

	// Chosen, if not nil, is called for each file whose fields the options do not name and that are
	// not called text and id. It is called by the goroutine that scans.
	Chosen func(file string, f Fields)

	Share *input.Share // unless nil, only its files are read

	// Meter, if not nil, counts files and bytes while they are read.
	Meter *input.Meter

	// Decoders, if not nil, decompress and decode parts of files while others are read.
	Decoders *unpack.Decoders
}

// Fields are the names of the fields with the text and the ID of a file's documents.
type Fields struct {
	Text string
	ID   string // "" where there is none
}

// DefaultMaxDocumentBytes is 64 MiB: longer than any book, short enough that a decompression bomb
// does no harm.
const DefaultMaxDocumentBytes = 64 << 20

// MaxIDBytes is how long an ID may be: longer ones are skipped, since no index holds them.
const MaxIDBytes = 32 << 10

// withDefaults fills in empty fields and refuses invalid ones.
func (o Options) withDefaults() (Options, error) {
	if o.Format == "" {
		o.Format = Auto
	}
	if _, err := ParseFormat(string(o.Format)); err != nil {
		return o, err
	}
	if _, err := text.ParseExtraction(string(o.Extract)); err != nil {
		return o, err
	}
	if o.MaxDocumentBytes == 0 {
		o.MaxDocumentBytes = DefaultMaxDocumentBytes
	}
	if o.MaxDocumentBytes < 0 {
		return o, fmt.Errorf("largest document of %d bytes: must not be negative", o.MaxDocumentBytes)
	}
	if o.Meter == nil {
		o.Meter = &input.Meter{}
	}
	return o, nil
}
