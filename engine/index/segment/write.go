package segment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"

	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/idlist"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// An Input is what a segment is built from.
type Input struct {
	Fingerprints []uint64    // by row, in any order, with repetitions
	Chunks       [][]uint64  // more of them, where they do not lie in one piece
	Prints       radix.Input // instead of these, where they do not lie in memory
	// whose documents follow one another, where there are neither Fingerprints nor Chunks
	Sources []Source
	IDs     iter.Seq2[string, error] // by row; nil when documents have none
}

// Len returns the number of documents.
func (in *Input) Len() int {
	n := in.prints().Len()
	for i := range in.Sources {
		n += int(in.Sources[i].Len())
	}
	return n
}

// prints returns the fingerprints that are not of Sources.
func (in *Input) prints() radix.Input {
	switch {
	case in.Prints != nil:
		return in.Prints
	case len(in.Fingerprints) == 0:
		return radix.Chunks(in.Chunks)
	}
	return append(radix.Chunks{in.Fingerprints}, in.Chunks...)
}

// Options configures the building of a segment.
type Options struct {
	Design   permute.Design
	Table    table.Options
	NoDocs   bool                             // keep the fingerprints alone, and no documents of theirs
	Threads  int                              // default: as many as there are processors
	Progress func(stage string, part, of int) // may be nil
	Planned  func(Plan)                       // called once with the plan, before anything is taken or written; may be nil

	Budget  *memory.Budget // of which the memory beside the input is taken; nil: no limit
	Most    uint64         // bytes to take of it, where so many will do; 0: what is fastest
	TempDir string         // folder for sorted keys that do not fit the budget; "" refuses them
	Disk    *disk.Disk     // that holds TempDir; default: the system's
	Random  io.Reader      // source of file identities; default: crypto/rand
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
// The fingerprints of [Input.Sources] are read from their tables, whatever designs these have:
// twice for each table, and once or twice more for the ids, where these are sorted at once or one
// thread sorts them. They take no memory but [SourceBytes] each, which who calls reserves. The
// segment is the same as that of their documents' fingerprints in order.
//
// Memory beside the input is that of [NewPlan], reserved from o.Budget, all of it off the heap but
// for constants. The error is a [memory.TooLargeError] where there is less, and an error of package
// spill where the temporary file fails. When ctx is done, Write returns its error within some 10
// milliseconds a thread.
func Write(ctx context.Context, sink store.Sink, in Input, o Options) (err error) {
	if err := o.Design.Validate(); err != nil {
		return err
	}
	if o.NoDocs && in.IDs != nil {
		return errors.New("IDs of documents that are not to be kept")
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Table.Layout == "" {
		o.Table.Layout = table.LayoutHuffman
	}
	b := &builder{Options: o, sink: &guardedSink{ctx, sink}, docs: in.Len()}
	defer func() {
		if e := b.close(); err == nil {
			err = e
		}
	}()
	defer store.CatchFault(&err)() // inputs are mapped
	if err := b.open(&in); err != nil {
		return err
	}
	if err := b.plan(); err != nil {
		return err
	}
	if err := b.progress(ctx, "ids", 0); err != nil {
		return err
	}
	documents := b.documents
	if o.NoDocs {
		documents = b.fingerprints
	}
	if err := documents(ctx); err != nil {
		return err
	}
	b.keepFewer()
	if err := b.head(&in); err != nil {
		return err
	}
	if in.IDs != nil {
		if err := writeIDs(b.sink, in.IDs, uint64(b.docs)); err != nil {
			return err
		}
	}
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
func (b *builder) head(in *Input) error {
	m := meta{Design: b.Design, Layout: b.Table.Layout, Fingerprints: uint64(b.distinct), Documents: uint64(b.docs),
		Named: in.IDs != nil, NoDocs: b.NoDocs}
	head, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return store.WriteSection(b.sink, "segment", head)
}

// TablePrefix returns what the names of the sections of a table begin with.
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

// writeIDs writes the documents' IDs, of which there must be docs.
func writeIDs(sink store.Sink, list iter.Seq2[string, error], docs uint64) error {
	sink.Section("names")
	w := idlist.NewWriter(sink)
	seen := uint64(0)
	for id, err := range list {
		if err == nil {
			err = w.Append(id)
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
		return fmt.Errorf("%d IDs for %d documents", seen, docs)
	}
	return store.WriteSection(sink, "names.ends", store.Bytes64(ends))
}
