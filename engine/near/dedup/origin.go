package dedup

import (
	"errors"
	"fmt"
	"slices"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/input"
	"ndd/engine/storage/spill"
)

// An origin is where the documents of a corpus were read, to read them again.
type origin struct {
	inputs    []string // nil for fingerprint files
	options   format.Options
	fileUnits ingest.ReadFiles
	units     spill.Column[uint64] // of the inputs, that became the rows
}

// rowAt returns the row of the first unit, from a unit on, that became one.
func (o *origin) rowAt(unit int) Row {
	row, _ := slices.BinarySearch(o.units.All, uint64(unit))
	return Row(row)
}

// again returns the configuration for a second reading, which a meter counts unless it is nil. It skips
// the same inputs as the first.
func (c *Corpus) again(m *input.Meter) ingest.Config {
	cfg := ingest.Config{Document: c.from.options, Threads: c.o.Threads}
	cfg.Document.Meter, cfg.Document.Strict = m, false
	return cfg
}

// errAgain begins what keeps documents from being read again.
var errAgain = errors.New("texts are needed again, and")

// readable returns why the documents cannot be read again; nil if they can.
func (o *origin) readable() error {
	if o.inputs == nil {
		return fmt.Errorf("%w fingerprints have none: give the documents", errAgain)
	}
	if i := slices.IndexFunc(o.inputs, input.ReadOnce); i >= 0 {
		return fmt.Errorf("%w a pipe (%s) cannot be read twice: put it in a file", errAgain, o.inputs[i])
	}
	return nil
}

// bitmap is a set of small integers.
type bitmap []uint64

func (b *bitmap) set(i int) {
	for len(*b) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b bitmap) has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 == 1 }

// bit returns 1 for a member.
func (b bitmap) bit(i int) int {
	if b.has(i) {
		return 1
	}
	return 0
}
