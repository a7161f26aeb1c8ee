package ingest

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"slices"
	"unsafe"

	"github.com/minio/highwayhash"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/corpus/text"
)

// Config configures reading and fingerprinting.
type Config struct {
	Document format.Options // Run takes Extract from the recipe
	Recipe   simhash.Recipe // the zero value is simhash.Default()
	Threads  int            // workers; 0 is one for each CPU that the Go runtime uses
	Stdin    io.Reader      // source of the input "-"; may be nil if no input is "-"
	Budget   int64          // bytes of documents to read ahead, at most [BudgetBytes], the default

	// Skipped, if not nil, gets all parts of the inputs that are no documents, in order. The goroutine that called
	// Run or Extract calls it. An error ends the run.
	Skipped func(*input.Skip) error

	// Exact makes the first half of the hash the fingerprint, even for documents with few features.
	Exact bool

	// FileEnd, if not nil, gets each file after its last document. The goroutine that called Run or Extract calls it.
	FileEnd func(FileUnits)

	// Sketches tells [Run] to make the sketches of documents, too.
	Sketches bool

	// Work, if not nil, keeps the results of each file for later runs. Job names the settings, in addition to
	// those here, that the results depend on; it is "" for fingerprints.
	Work Work
	Job  string
}

// Record is one document on its way to an index.
type Record struct {
	ID          string
	Fingerprint simhash.Fingerprint // 0, and without meaning, unless OK
	OK          bool                // true if the document has enough features
	Sketch      sketch.Sketch       // zero unless [Config].Sketches is set and OK
	Hash        [2]uint64           // hash of the text; never 0
	Features    int                 // see [simhash.Fingerprinter.Fingerprint]
	TextBytes   int                 // length of the extracted text
	Values      []format.Value      // values of the fields that the options request
	Modified    int64               // see format.Document
	Source      string              // file of the document
	Line        int                 // line in the file; see format.Document
	Unit        int                 // index, from 0, of its unit in the order of format.Scan
	Payload     []byte              // further data of [Steps].Record
}

// FileUnits is the number of units of a file.
type FileUnits struct {
	Path  string
	Units int
	Bytes int64 // size of the file; -1 if it is unknown

	// Content is the checksum of the units. It is 0 if it is unknown, because a document was too large.
	Content format.Checksum
}

// ReadFiles are the files of a reading, in order.
type ReadFiles []FileUnits

// Check compares a later reading, in which file i is path, or which has only i files if path is "". It returns the
// error of [Changed] for path if path is new, and for the old file i if that is missing.
func (r ReadFiles) Check(i int, path string) error {
	switch {
	case i == len(r) && path != "", i < len(r) && path != "" && path < r[i].Path:
		return Changed(path)
	case i < len(r) && path != r[i].Path:
		return Changed(r[i].Path)
	}
	return nil
}

// A ChangedError reports that a file or document has changed since an earlier reading. Where names it in the form of
// [input.Place].
type ChangedError struct{ Place string }

func (e *ChangedError) Error() string {
	return e.Place + ": changed since it was first read: run again while nothing writes to it"
}

// Changed returns a [ChangedError].
func Changed(place string) error { return &ChangedError{place} }

// Report sums up a run.
type Report struct {
	Units     int       // number of units that the scanner found, documents or not
	Documents int       // number of documents emitted, including TooFew
	TooFew    int       // documents with too few features for a fingerprint
	Repaired  int       // documents with invalid bytes, which were replaced
	NoID      int       // documents without an ID in the ID field; their place is their ID
	Unknown   int       // documents that declare no encoding, or an unknown or wrong one; their bytes determined it
	Charsets  []string  // some of the names that they declare, each once, or "none"
	FileUnits ReadFiles // units of each file, in order, up to the end of the run
	BytesRead int64     // bytes from disk, before decompression
	TextBytes int64     // bytes of extracted texts
	Skipped   input.Tally
	Guesses   []input.Guess
}

// charsetsMax is the maximum number of names of unknown encodings in a report.
const charsetsMax = 5

// declared counts a document with a [format.Document.Charset], if that is not "".
func (r *Report) declared(charset string) {
	if charset == "" {
		return
	}
	r.Unknown++
	if len(r.Charsets) < charsetsMax && !slices.Contains(r.Charsets, charset) {
		r.Charsets = append(r.Charsets, charset)
	}
}

// BudgetBytes is the default of Config.Budget. It suffices to keep all workers busy.
const BudgetBytes = 256 << 20

// Run reads the inputs with package format and calls emit with a record for each document, in order. It stops at the
// first error of the inputs (with file and place), of emit, or of the context. After an error of the inputs, it has
// emitted all documents before the error. The report is valid with an error too.
func Run(ctx context.Context, inputs []string, cfg Config, emit func(Record) error) (Report, error) {
	if cfg.Recipe == (simhash.Recipe{}) {
		cfg.Recipe = simhash.Default()
	}
	if err := cfg.Recipe.Validate(); err != nil {
		return Report{}, err
	}
	cfg.Document.Extract = text.Extraction(cfg.Recipe.Extract)
	tooFew := 0
	steps := Steps[*Record]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (*Record, error), error) {
			return fingerprint(ctx, &cfg)
		},
		Borrows:  true,
		Record:   func(r *Record) Record { return *r },
		Result:   func(r Record) *Record { return &r },
		numbered: func(r *Record, unit int) { r.Unit = unit },
		Emit: func(r *Record) error {
			if !r.OK {
				tooFew++
			}
			return emit(*r)
		},
	}
	report, err := Extract(ctx, inputs, cfg, steps)
	report.TooFew = tooFew
	return report, err
}

// fingerprint returns a worker that makes the records of documents.
func fingerprint(ctx context.Context, cfg *Config) (func(int, *format.Document) (*Record, error), error) {
	fingerprinter, err := simhash.New(cfg.Recipe)
	if err != nil {
		return nil, err
	}
	fingerprinter.Until(ctx)
	return func(_ int, doc *format.Document) (*Record, error) {
		r := &Record{ID: doc.ID, Hash: HashOf(doc.Text), TextBytes: len(doc.Text), Values: doc.Values,
			Modified: doc.Modified, Source: doc.Source, Line: doc.Line}
		switch {
		case cfg.Exact:
			r.Fingerprint, r.OK = simhash.Fingerprint(r.Hash[0]), true
		case cfg.Sketches:
			r.Fingerprint, r.Features, r.OK, r.Sketch = fingerprinter.Sketch(doc.Text)
		default:
			r.Fingerprint, r.Features, r.OK = fingerprinter.Fingerprint(doc.Text)
		}
		return r, nil
	}, nil
}

// hashKey is the key of the hashes of texts.
var hashKey = []byte("ndd ingest: texts, HighwayHash  ")

// HashOf returns a 128-bit hash of a text. The probability that any two of n different texts have the same hash is
// n * n / 2^129.
func HashOf(text string) [2]uint64 {
	sum := highwayhash.Sum128(unsafe.Slice(unsafe.StringData(text), len(text)), hashKey)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])}
}

// budget returns the bytes of documents that a run may have in flight. They suffice for two documents of the maximum
// length.
func (c *Config) budget() int64 {
	budget := c.Budget
	if budget <= 0 || budget > BudgetBytes {
		budget = BudgetBytes
	}
	return max(budget, 2*c.longest())
}

func (c *Config) longest() int64 {
	return cmp.Or(c.Document.MaxDocumentBytes, format.DefaultMaxDocumentBytes)
}

// NeedBytes returns the peak memory of a run, without the program itself: twice the documents in flight, because of the
// garbage collector, plus one document that is longer than announced.
func (c *Config) NeedBytes() uint64 { return 2*uint64(c.budget()) + uint64(c.longest()) }

// budgetMin is the smallest budget that [Config.Fit] sets.
const budgetMin = 1 << 20

// Fit returns the configuration for reading in some bytes of memory. With little memory it reads less ahead and lowers
// the maximum length of a document, so that longer documents are skipped and reported. A later reading of the same
// inputs must have the same Document options.
func (c Config) Fit(bytes uint64) Config {
	c.Budget = 0
	if c.NeedBytes() <= bytes {
		return c
	}
	budget := max(int64(bytes*2/5), budgetMin) // 2/5: see NeedBytes, with a document of half the budget
	if longest := c.longest(); longest > budget/2 {
		c.Document.MaxDocumentBytes, c.Document.ShortOfMemory = budget/2, true
	}
	c.Budget = budget
	return c
}
