package segment

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"

	"ndd/asm"
	"ndd/engine/names"
	"ndd/engine/radix"
	"ndd/engine/store"
	"ndd/engine/table"
	"ndd/permute"
)

// An Input is what a segment is made from.
type Input struct {
	Fingerprints []uint64                 // by row, in any order, with repetitions
	Names        iter.Seq2[string, error] // by row; nil when documents have none
}

// Options are how.
type Options struct {
	Design   permute.Design
	Table    table.Options
	Threads  int                              // default: as many as there are processors
	Progress func(stage string, part, of int) // may be nil
}

// meta is the section "segment".
type meta struct {
	Design       permute.Design `json:"design"`
	Layout       table.Layout   `json:"layout"`
	Fingerprints uint64         `json:"fingerprints"` // distinct
	Documents    uint64         `json:"documents"`
	Named        bool           `json:"named"`
}

// Write builds the segment and writes it to sink, one table after the other.
// Memory beside the input: 24 bytes a document for the ids, then 16 bytes a
// distinct fingerprint and the largest table's sections.
func Write(ctx context.Context, sink store.Sink, in Input, o Options) error {
	if err := o.Design.Validate(); err != nil {
		return err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	progress := func(stage string, part int) error {
		if o.Progress != nil {
			o.Progress(stage, part, len(o.Design.Tables)+1)
		}
		return ctx.Err()
	}
	if o.Table.Layout == "" {
		o.Table.Layout = table.LayoutHuffman
	}
	if err := progress("ids", 0); err != nil {
		return err
	}
	pairs := make([]radix.Pair, len(in.Fingerprints))
	first := o.Design.Tables[0].Mask
	radix.Pairs(pairs, in.Fingerprints, first, o.Threads)
	keys, ids := newIDs(pairs)
	pairs = nil

	m := meta{o.Design, o.Table.Layout, uint64(len(keys)), uint64(len(in.Fingerprints)), in.Names != nil}
	head, err := json.Marshal(m)
	if err != nil {
		return err
	}
	sink.Section("segment")
	sink.Write(head)
	if err := ids.write(sink); err != nil {
		return err
	}
	if in.Names != nil {
		if err := writeNames(sink, in.Names, m.Documents); err != nil {
			return err
		}
	}

	distinct := make([]uint64, len(keys))
	asm.Unpermute(distinct, keys, first)
	for i, t := range o.Design.Tables {
		if err := progress("tables", i+1); err != nil {
			return err
		}
		if i > 0 {
			radix.Keys(keys, distinct, t.Mask, o.Threads)
		}
		if err := table.Write(sink, prefix(i), keys, o.Table); err != nil {
			return fmt.Errorf("table %d: %w", i, err)
		}
	}
	return nil
}

func prefix(table int) string { return fmt.Sprintf("t%d.", table) }

func writeNames(sink store.Sink, list iter.Seq2[string, error], docs uint64) error {
	sink.Section("names")
	w := names.NewWriter(sink)
	seen := uint64(0)
	for name, err := range list {
		if err == nil {
			err = w.Append(name)
		}
		if err != nil {
			w.Close()
			return err
		}
		seen++
	}
	ends, err := w.Close()
	if err != nil {
		return err
	}
	if seen != docs {
		return fmt.Errorf("%d names for %d documents", seen, docs)
	}
	sink.Section("names.ends")
	_, err = sink.Write(store.Bytes64(ends))
	return err
}
