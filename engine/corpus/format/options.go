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
	// TextField is the field with the text in JSON, CSV and Parquet. It may name several fields, separated by commas;
	// the first one that a record has counts. "" is the first of TextFields that most of a file's first 1,000 records
	// have. Dots separate the names of nested fields.
	TextField string
	// PreferText are names of fields that are preferred to TextFields.
	PreferText []string
	IDField    string          // JSON and CSV: field that holds the ID; "" is the first of IDFields likewise
	Extract    text.Extraction // text to extract from a page; "" is ExtractAll
	Strict     bool            // a skip that loses data is an error

	// ValueFields are lists of field names, as in TextField, or of names of WARC headers. From each list, the first
	// field that is a string or number in a line or record is one of the document's Values.
	ValueFields [][]string
	FirstValue  bool // if such a field has several values, as in a list, use the first; otherwise use none

	// MaxDocumentBytes is the maximum size of a document, as bytes of its decompressed file or line. Longer documents
	// are skipped. 0 is DefaultMaxDocumentBytes.
	MaxDocumentBytes int64
	ShortOfMemory    bool // MaxDocumentBytes is lower than asked for, because there is little memory

	// Chosen, if not nil, is called for each file if the options do not name its fields, and the chosen fields are not
	// text and id. The goroutine that scans calls it.
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
	ID   string // "" if there is none
}

// DefaultMaxDocumentBytes is 64 MiB: longer than any book, short enough that a decompression bomb
// does no harm.
const DefaultMaxDocumentBytes = 64 << 20

// MaxIDBytes is the maximum length of an ID. Documents with longer IDs are skipped, because no index can hold them.
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
