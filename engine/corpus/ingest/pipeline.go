package ingest

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"ndd/engine/corpus/document"
	"ndd/engine/parallel"
)

const (
	batchBytes  = 128 << 10
	batchUnits  = 256
	queueDepth  = 6 // batches in flight for each worker
	progressGap = 100 * time.Millisecond
)

// Steps say what becomes of the documents of some inputs: a result of type R each.
type Steps[R any] struct {
	// Want, if not nil, is told the number of each unit that [document.Scan] yields, from 0, in order, and returns whether
	// its document is needed. It is called by one goroutine.
	Want func(unit int) bool
	// Worker returns a function that makes the result of a document, the unit-th. It is called once for each worker, and
	// what it returns is called by that worker only; the document is the callee's during the call. An error ends the run.
	Worker func() (func(unit int, doc *document.Document) (R, error), error)
	// Borrows says that the worker keeps nothing of a document's text when it has made its result, which saves a copy.
	Borrows bool
	// Emit, if not nil, is called with the results in the order of the inputs, by the goroutine that called Extract. An
	// error ends the run.
	Emit func(R) error
}

// Extract reads the inputs as package document does, has the text of each wanted document extracted and worked on by
// cfg.Threads goroutines, and emits the results in order. What is no document is skipped, and counted by the report,
// unless cfg.Document.Strict forbids that. cfg.Recipe is not used.
//
// It stops at the first error: of the inputs (naming file and place), of a worker, of emit, or of the context. The report
// is valid with an error too; it counts what was emitted.
func Extract[R any](ctx context.Context, inputs []string, cfg Config, s Steps[R]) (Report, error) {
	return extract(ctx, inputs, cfg, cfg.budget(), s)
}

// extract is Extract with a budget, in bytes of units in flight.
func extract[R any](ctx context.Context, inputs []string, cfg Config, budget int64, s Steps[R]) (Report, error) {
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	if cfg.Document.Meter == nil {
		cfg.Document.Meter = &document.Meter{}
	}
	p := &pipeline[R]{cfg: cfg, steps: s, budget: semaphore.NewWeighted(budget), limit: budget, told: time.Now()}
	o := parallel.Options{Workers: cfg.Threads, Ahead: queueDepth * cfg.Threads}
	err := parallel.Ordered(ctx, o, func(ctx context.Context, yield func(*batch[R]) bool) error {
		return p.scan(ctx, inputs, yield)
	}, p.work, p.emit)
	if err == nil {
		p.report.Units = p.units
	}
	p.report.Files, p.report.BytesRead = p.files(), p.bytes()
	if cfg.Progress != nil {
		cfg.Progress(p.progress(true))
	}
	return p.report, err
}

// pipeline is the state of one run.
type pipeline[R any] struct {
	cfg    Config
	steps  Steps[R]
	budget *semaphore.Weighted
	limit  int64 // of budget
	units  int   // that the scanner found

	report Report
	told   time.Time // of the last call of cfg.Progress
}

func (p *pipeline[R]) files() int64 { return p.cfg.Document.Meter.Files.Load() }
func (p *pipeline[R]) bytes() int64 { return p.cfg.Document.Meter.Bytes.Load() }

func (p *pipeline[R]) progress(done bool) Progress {
	return Progress{Files: p.files(), BytesRead: p.bytes(), Documents: p.report.Documents, Done: done}
}
