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
	Stdin    io.Reader      // what the input - reads; may be nil if none is
	Budget   int64          // bytes of documents that are read ahead, [BudgetBytes] at most; 0 is that

	// Skipped, if not nil, is called with everything that did not become a document, in the order
	// of the inputs, by the goroutine that called Run or Extract. An error ends the run.
	Skipped func(*input.Skip) error

	// Exact says that the fingerprint is the first half of the hash, of documents with few features, too.
	Exact bool

	// Sketches says that [Run] makes the sketches of documents, too.
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
	OK          bool                // the document has features enough
	Sketch      sketch.Sketch       // zero unless [Config].Sketches is set and OK
	Hash        [2]uint64           // of the text; never 0
	Features    int                 // see [simhash.Fingerprinter.Fingerprint]
	TextBytes   int                 // of the extracted text
	Values      []format.Value      // of the fields that the options ask for
	Modified    int64               // see format.Document
	Source      string              // its file
	Line        int                 // in the file, as format.Document has it
	Unit        int                 // its place, from 0, among the units that format.Scan yields
	Payload     []byte              // what else [Steps].Record keeps
}

// FileUnits is the number of units of a file.
type FileUnits struct {
	Path  string
	Units int
}

// ReadFiles are the files of a reading, in order.
type ReadFiles []FileUnits

// Check returns the error of [Changed] where a later reading finds path as file i, or no more files where
// path is empty, and this one found another: path is new, or the other is gone.
func (r ReadFiles) Check(i int, path string) error {
	switch {
	case i == len(r) && path != "", i < len(r) && path != "" && path < r[i].Path:
		return Changed(path)
	case i < len(r) && path != r[i].Path:
		return Changed(r[i].Path)
	}
	return nil
}

// A ChangedError says that a file or document, which is named as [input.Place] does it, is not what an
// earlier reading found.
type ChangedError struct{ Where string }

func (e *ChangedError) Error() string {
	return e.Where + ": changed since it was first read: run again while nothing writes to it"
}

// Changed returns a [ChangedError].
func Changed(where string) error { return &ChangedError{where} }

// Report sums up a run.
type Report struct {
	Units     int       // found by the scanner: documents, and what turned out to be none
	Documents int       // emitted, those with too few features among them
	TooFew    int       // documents with too few features: marked, without a fingerprint
	Repaired  int       // documents in which invalid bytes were replaced
	NoID      int       // documents without an ID in the field for IDs, called by their places
	Unknown   int       // documents of which the bytes told the encoding: none that is known and true is declared
	Charsets  []string  // some of the names that they declare, each once; none
	FileUnits ReadFiles // of each file, in order, as far as the run came
	Files     int64
	BytesRead int64 // from disk, before decompression
	TextBytes int64 // extracted
	Skipped   input.Tally
	Outside   []input.File // symbolic links out of the folders that they are in, which were followed
	Guesses   []input.Guess
}

// charsetsMost is how many names of unknown encodings a report has.
const charsetsMost = 5

// declared counts a document by the unknown encoding that it declares, "" for none.
func (r *Report) declared(charset string) {
	if charset == "" {
		return
	}
	r.Unknown++
	if len(r.Charsets) < charsetsMost && !slices.Contains(r.Charsets, charset) {
		r.Charsets = append(r.Charsets, charset)
	}
}

// BudgetBytes are enough for all workers to have something to do.
const BudgetBytes = 256 << 20

// Run reads the inputs as package format does and calls emit with a record for each document, in
// order. It stops at the first error: of the inputs (naming file and place), of emit, or of the
// context. Everything before it in the order of the inputs has been emitted by then, unless the
// context or emit ended it. The report is valid with an error too.
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

// HashOf returns 128 bits of a text's hash: of n texts two unlike ones have the same with a chance of
// n * n / 2^129.
func HashOf(text string) [2]uint64 {
	sum := highwayhash.Sum128(unsafe.Slice(unsafe.StringData(text), len(text)), hashKey)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])}
}

// budget returns how many bytes of documents a run may have in flight: two of the longest documents
// at least.
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

// NeedBytes returns the maximum memory of a run in addition to the program itself: twice the documents in flight, for
// the collector, and one document that is longer than its size said.
func (c *Config) NeedBytes() uint64 { return 2*uint64(c.budget()) + uint64(c.longest()) }

// leastBudget is the smallest budget that [Config.Fit] sets.
const leastBudget = 1 << 20

// Fit returns the configuration for reading in some bytes of memory. With little memory it reads less ahead and lowers
// the maximum length of a document, so that longer documents are skipped and reported. A later reading of the same
// inputs must have the same Document options.
func (c Config) Fit(bytes uint64) Config {
	c.Budget = 0
	if c.NeedBytes() <= bytes {
		return c
	}
	budget := max(int64(bytes*2/5), leastBudget) // 2/5: see NeedBytes, with a document of half the budget
	if longest := c.longest(); longest > budget/2 {
		c.Document.MaxDocumentBytes, c.Document.ShortOfMemory = budget/2, true
	}
	c.Budget = budget
	return c
}
