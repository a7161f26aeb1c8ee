package ingest

import (
	"cmp"
	"context"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/simhash"
	"ndd/engine/parallel"
)

// Config says what to read and how to fingerprint it.
type Config struct {
	Document document.Options
	Recipe   simhash.Recipe // the zero value is simhash.Default()
	Threads  int            // workers; 0 is one for each CPU that the Go runtime uses
	Stdin    io.Reader      // what the input - reads; may be nil if none is
	Budget   int64          // bytes of documents that are read ahead, [BudgetBytes] at most; 0 is that

	// Progress, if not nil, is called about ten times a second while records come, and once at the end.
	Progress func(Progress)
}

// Progress is how far a run has come.
type Progress struct {
	Files     int64 // opened so far
	BytesRead int64 // read from disk so far
	Documents int   // emitted so far
	Done      bool  // the last call
}

// Record is one document on its way to an index.
type Record struct {
	ID          string
	Fingerprint simhash.Fingerprint // 0, and without meaning, unless OK
	OK          bool                // the document has features enough
	Features    int                 // distinct ones
	TextBytes   int                 // of the extracted text
	Value       document.Value      // of the field that the options ask for
	Modified    int64               // see document.Document
	Unit        int                 // its place, from 0, among the units that document.Scan yields
}

// Report sums up a run.
type Report struct {
	Units     int // found by the scanner: documents, and what turned out to be none
	Documents int // emitted, those with too few features among them
	TooFew    int // documents with too few features: marked, without a fingerprint
	Repaired  int // documents in which invalid bytes were replaced
	Files     int64
	BytesRead int64 // from disk, before decompression
	TextBytes int64 // extracted
	Skipped   document.Tally
}

const (
	// BudgetBytes are enough for all workers to have something to do.
	BudgetBytes = 256 << 20

	batchBytes  = 64 << 10
	batchUnits  = 256
	queueDepth  = 4 // batches in flight for each worker
	progressGap = 100 * time.Millisecond
)

// Run reads the inputs as package document does and calls emit with a record for each document, in order. It stops
// at the first error: of the inputs (naming file and place), of emit, or of the context. Everything before it in
// the order of the inputs has been emitted by then, unless the context or emit ended it. The report is valid
// with an error too.
func Run(ctx context.Context, inputs []string, cfg Config, emit func(Record) error) (Report, error) {
	return run(ctx, inputs, cfg, cfg.budget(), emit)
}

// budget is what a run has in flight: two of the longest documents at least.
func (c *Config) budget() int64 {
	budget := c.Budget
	if budget <= 0 || budget > BudgetBytes {
		budget = BudgetBytes
	}
	return max(budget, 2*c.longest())
}

func (c *Config) longest() int64 {
	return cmp.Or(c.Document.MaxDocumentBytes, document.DefaultMaxDocumentBytes)
}

// NeedBytes returns the most memory that a run takes beside the program itself: what is in flight
// twice, for the collector, and a document that is longer than it said.
func (c *Config) NeedBytes() uint64 { return 2*uint64(c.budget()) + uint64(c.longest()) }

// run is Run with a budget, in bytes of units in flight.
func run(ctx context.Context, inputs []string, cfg Config, budget int64, emit func(Record) error) (Report, error) {
	if cfg.Recipe == (simhash.Recipe{}) {
		cfg.Recipe = simhash.Default()
	}
	if err := cfg.Recipe.Validate(); err != nil {
		return Report{}, err
	}
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	if cfg.Document.Meter == nil {
		cfg.Document.Meter = &document.Meter{}
	}

	p := newPipeline(cfg, budget)
	o := parallel.Options{Workers: cfg.Threads, Ahead: queueDepth * cfg.Threads}
	err := parallel.Ordered(ctx, o, func(ctx context.Context, yield func(*batch) bool) error {
		return p.scan(ctx, inputs, yield)
	}, p.work, func(b *batch) error { return p.emit(b, emit) })
	p.report.Files, p.report.BytesRead = p.files(), p.bytes()
	if cfg.Progress != nil {
		cfg.Progress(p.progress(true))
	}
	return p.report, err
}

// pipeline is the state of one Run.
type pipeline struct {
	cfg    Config
	budget *semaphore.Weighted
	limit  int64 // of budget

	report Report
	told   time.Time // of the last call of cfg.Progress
}

func newPipeline(cfg Config, budget int64) *pipeline {
	return &pipeline{cfg: cfg, budget: semaphore.NewWeighted(budget), limit: budget, told: time.Now()}
}

func (p *pipeline) files() int64 { return p.cfg.Document.Meter.Files.Load() }
func (p *pipeline) bytes() int64 { return p.cfg.Document.Meter.Bytes.Load() }

func (p *pipeline) progress(done bool) Progress {
	return Progress{Files: p.files(), BytesRead: p.bytes(), Documents: p.report.Documents, Done: done}
}
