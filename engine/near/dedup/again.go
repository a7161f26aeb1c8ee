package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/near/shingle"
	"example.org/ndd/engine/storage/spill"
)

// An origin reads the documents of a corpus again.
type origin struct {
	*rows
	inputs    []string // nil for fingerprint files
	options   format.Options
	fileUnits ingest.ReadFiles
	units     spill.Column[uint64] // number of each row's unit, counted over all inputs
	o         *ReadOptions
}

// rowAt returns the first row whose unit has at least the given number.
func (o *origin) rowAt(unit int) Row {
	row, _ := slices.BinarySearch(o.units.All, uint64(unit))
	return Row(row)
}

// config returns the configuration for a second reading. The meter, if not nil, counts it. It skips the same inputs as
// the first reading.
func (o *origin) config(m *input.Meter) ingest.Config {
	cfg := ingest.Config{Document: o.options, Threads: o.o.Threads}
	cfg.Document.Meter, cfg.Document.Strict = m, false
	return cfg
}

// errAgain begins an error that gives the reason why documents cannot be read again.
var errAgain = errors.New("texts are needed again, and")

// readable returns an error if the documents cannot be read again.
func (o *origin) readable() error {
	if o.inputs == nil {
		return fmt.Errorf("%w fingerprints have none: give the documents", errAgain)
	}
	if i := slices.IndexFunc(o.inputs, input.ReadOnce); i >= 0 {
		return fmt.Errorf("%w a pipe (%s) cannot be read twice: put it in a file", errAgain, o.inputs[i])
	}
	return nil
}

// changed returns the error for a row whose document has changed or was removed.
func (o *origin) changed(row Row) error {
	place := o.Place(row)
	return ingest.Changed(input.Place(place.File, place.Row))
}

// same reports whether the document of a row has not changed.
func (o *origin) same(row Row, doc *format.Document) bool {
	hash := o.hashes.All // empty in some tests
	return doc.ID == o.records.record(row).id && (len(hash) == 0 || ingest.HashOf(doc.Text) == hash[row])
}

// read reads the documents of some rows, which must ascend. It passes each document with its index in rows to the
// function that worker returns. Each goroutine has its own function. read returns an error if a document has changed.
func (o *origin) read(ctx context.Context, cfg ingest.Config, rows []Row,
	worker func(context.Context) func(i int, doc *format.Document) error) error {
	var count int
	index := func(unit int) (i int, ok bool) {
		return slices.BinarySearchFunc(rows, uint64(unit), func(row Row, unit uint64) int {
			return cmp.Compare(o.units.All[row], unit)
		})
	}
	_, err := ingest.Extract(ctx, o.inputs, cfg, ingest.Steps[struct{}]{
		FileUnits: o.fileUnits,
		Want: func(unit int) bool {
			_, ok := index(unit)
			return ok
		},
		Worker: func(ctx context.Context) (func(int, *format.Document) (struct{}, error), error) {
			do := worker(ctx)
			return func(unit int, doc *format.Document) (none struct{}, err error) {
				i, _ := index(unit)
				if !o.same(rows[i], doc) {
					return none, o.changed(rows[i])
				}
				return none, do(i, doc)
			}, nil
		},
		Emit: func(struct{}) error { count++; return nil },
	})
	if err == nil && count != len(rows) {
		return ingest.Changed(strings.Join(o.inputs, ", "))
	}
	return err
}

// shingles reads the documents of some rows, which must ascend, and puts the sets of their shingles into s.
func (o *origin) shingles(ctx context.Context, m *input.Meter, s *shingle.Sets, rows []Row) error {
	return o.read(ctx, o.config(m), rows, func(ctx context.Context) func(int, *format.Document) error {
		shingler := shingle.New(ctx)
		var set []uint64
		return func(i int, doc *format.Document) error {
			set = shingler.Append(set[:0], doc.Text)
			return s.Put(i, set)
		}
	})
}

// texts reads the texts of some rows.
func (o *origin) texts(ctx context.Context, rows []Row) (map[Row]string, error) {
	if err := o.readable(); err != nil {
		return nil, err
	}
	rows = slices.Compact(slices.Sorted(slices.Values(rows)))
	texts := map[Row]string{}
	var mu sync.Mutex
	err := o.read(ctx, o.config(nil), rows, func(context.Context) func(int, *format.Document) error {
		return func(i int, doc *format.Document) error {
			mu.Lock()
			defer mu.Unlock()
			texts[rows[i]] = strings.Clone(doc.Text)
			return nil
		}
	})
	return texts, err
}
