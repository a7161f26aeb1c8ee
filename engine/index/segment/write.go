package segment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/idlist"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

// An Input holds the documents of a new segment.
type Input struct {
	Fingerprints []uint64    // fingerprint of each row, in any order, with repetitions
	Chunks       [][]uint64  // fingerprints of the following rows, in pieces
	Stream       radix.Input // replaces both if the fingerprints are not in memory
	// Sources are segments whose documents are copied. They require that there are no fingerprints.
	Sources []Source
	IDs     iter.Seq2[string, error] // ID of each row; nil if documents have none
}

// Len returns the number of documents.
func (in *Input) Len() int {
	n := in.fingerprints().Len()
	for i := range in.Sources {
		n += int(in.Sources[i].Len())
	}
	return n
}

// fingerprints returns the fingerprints, without the ones in Sources.
func (in *Input) fingerprints() radix.Input {
	switch {
	case in.Stream != nil:
		return in.Stream
	case len(in.Fingerprints) == 0:
		return radix.Chunks(in.Chunks)
	}
	return append(radix.Chunks{in.Fingerprints}, in.Chunks...)
}

// Options configures the building of a segment.
type Options struct {
	Design   permute.Design
	Table    table.Options
	NoDocs   bool                                // store the fingerprints without documents
	Threads  int                                 // default: number of processors
	Progress func(stage string, part, parts int) // may be nil
	Planned  func(Plan)                          // receives the plan before Write allocates or writes; may be nil

	Budget       *memory.Budget // limits the memory in addition to the input; nil means no limit
	MemoryTarget uint64         // bytes of Budget to use if they suffice; 0 selects the fastest method
	TempDir      string         // folder for sorted keys that do not fit the budget; "" refuses them
	Disk         *disk.Disk     // disk of TempDir; default: the system's
	Random       io.Reader      // source of file identities; default: crypto/rand
}

// meta is the content of the section "segment", as JSON.
type meta struct {
	Design       permute.Design `json:"design"`
	Layout       table.Layout   `json:"layout"`
	Fingerprints uint64         `json:"fingerprints"` // distinct
	Documents    uint64         `json:"documents"`
	Named        bool           `json:"named"`
	NoDocs       bool           `json:"noDocuments,omitempty"`
}

// Write builds the segment and writes it to sink, one table after the other:
//
//	input --permute, sort with rows, range by range--> ids.* as they come
//	                                              `--> distinct keys of table 0
//	input or distinct --permute, sort--> keys of table i --table.Write--> t<i>.*
//
// The fingerprints of [Input.Sources] are read from their tables, whatever designs these have: twice for each table,
// and once or twice more for the ordinals if one sort or one thread suffices. Each source needs [SourceBytes], which
// the caller reserves. The result is the same as for the fingerprints of the documents in order.
//
// Write reserves the memory of [NewPlan] from o.Budget, and keeps it off the heap except for constants. It returns a
// [memory.TooLargeError] if there is less, or an error of package spill if the temporary file fails. If ctx ends, Write
// returns its error within about 10 milliseconds per thread.
func Write(ctx context.Context, sink store.Sink, input Input, o Options) (err error) {
	// Check the options and set defaults.
	if err := o.Design.Validate(); err != nil {
		return err
	}
	if o.NoDocs && input.IDs != nil {
		return errors.New("IDs, but no documents to keep")
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Table.Layout == "" {
		o.Table.Layout = table.LayoutHuffman
	}
	// Open the input, and plan the memory.
	b := &builder{Options: o, sink: &guardedSink{ctx, sink}, docs: input.Len()}
	defer func() {
		if e := b.close(); err == nil {
			err = e
		}
	}()
	defer store.EndFaults(store.BeginFaults(), &err) // inputs are mapped
	if err := b.open(&input); err != nil {
		return err
	}
	if err := b.plan(); err != nil {
		return err
	}
	if err := b.progress(ctx, "ids", 0); err != nil {
		return err
	}
	// Sort the documents, and write which documents each fingerprint has.
	documents := b.documents
	if o.NoDocs {
		documents = b.fingerprints
	}
	if err := documents(ctx); err != nil {
		return err
	}
	// Write the description and the IDs.
	b.keepFewer()
	if err := b.head(&input); err != nil {
		return err
	}
	if input.IDs != nil {
		if err := writeIDs(b.sink, input.IDs, uint64(b.docs)); err != nil {
			return err
		}
	}
	// Write the tables.
	for i := range o.Design.Tables {
		if err := b.progress(ctx, "tables", i+1); err != nil {
			return err
		}
		if err := b.table(ctx, i); err != nil {
			return fmt.Errorf("table %d: %w", i, err)
		}
	}
	return nil
}

// progress reports that a part of the work begins, and returns the error of a context that is done.
func (b *builder) progress(ctx context.Context, stage string, part int) error {
	if b.Progress != nil {
		b.Progress(stage, part, len(b.Design.Tables)+1)
	}
	return ctx.Err()
}

// head writes the section that describes the segment.
func (b *builder) head(input *Input) error {
	m := meta{Design: b.Design, Layout: b.Table.Layout, Fingerprints: uint64(b.distinct), Documents: uint64(b.docs),
		Named: input.IDs != nil, NoDocs: b.NoDocs}
	head, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return store.WriteSection(b.sink, "segment", head)
}

// TablePrefix returns the prefix of the names of a table's sections.
func TablePrefix(table int) string { return fmt.Sprintf("t%d.", table) }

// A guardedSink fails writes once the context is done.
type guardedSink struct {
	ctx context.Context
	store.Sink
}

func (s *guardedSink) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Sink.Write(p)
}

// writeIDs writes the IDs of docs documents.
func writeIDs(sink store.Sink, list iter.Seq2[string, error], docs uint64) error {
	sink.Section("names")
	w := idlist.NewWriter(sink)
	count := uint64(0)
	for id, err := range list {
		if err == nil {
			err = w.Append(id)
		}
		if err != nil {
			w.Close()
			return err
		}
		count++
	}
	ends, err := w.Close()
	if err != nil {
		return err
	}
	if count != docs {
		return fmt.Errorf("%d IDs for %d documents", count, docs)
	}
	return store.WriteSection(sink, "names.ends", store.Bytes64(ends))
}
