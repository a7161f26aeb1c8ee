package live

import (
	"context"
	"errors"
	"iter"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// seal turns full memtables into segments until the index is closed.
func (x *Index) seal() {
	defer close(x.done)
	for range x.full {
		for {
			v := x.current.Load()
			if len(v.memtables) < 2 {
				break
			}
			if err := x.sealOldest(v); err != nil {
				x.writer.mu.Lock()
				x.failed = err
				x.wake()
				x.writer.mu.Unlock()
				return
			}
		}
	}
}

// sealOldest makes a segment of the oldest memtable and of the segments in memory before it that
// are not larger than what they are merged with, so that sizes double from one to the next, as in
// a binary counter. Segments of files stay as they are. Where memory does not do for a merge, the
// memtable becomes a segment of its own.
func (x *Index) sealOldest(v *version) error {
	oldest := v.memtables[0]
	from, size := len(v.segments), uint64(memtableDocs)
	for from > 0 && v.segments[from-1].file == nil && v.segments[from-1].workers == nil && v.segments[from-1].Documents() <= size {
		from--
		size += v.segments[from].Documents()
	}
	merged := v.segments[from:]
	sealed, err := x.merge(merged, oldest)
	if errors.Is(err, memory.ErrTooLarge) && len(merged) > 0 {
		merged = nil
		sealed, err = x.merge(nil, oldest)
	}
	if err != nil {
		return err
	}
	x.writer.mu.Lock() // against inserts, which add memtables
	defer x.writer.mu.Unlock()
	x.wake()
	return x.Apply(Edit{Remove: merged, removeMemtables: []*memtable{oldest}, Add: []*Segment{sealed}})
}

// merge makes a segment in memory, of the index's design and layout, of segments that follow one
// another and of the memtable behind them. The error wraps [memory.ErrTooLarge] when memory will
// not do.
func (x *Index) merge(merged []*Segment, m *memtable) (*Segment, error) {
	first, docs := m.first, len(m.fingerprints)
	if len(merged) > 0 {
		first = merged[0].first
		docs = int(m.first-first) + len(m.fingerprints)
	}
	o := segment.Options{Design: x.config.Design, Table: x.config.Table, Threads: 1}
	reserved, err := reserveMerge(docs, o, nil)
	if err != nil {
		return nil, err
	}
	defer reserved.Release()
	rows, err := memory.Make[uint64](docs)
	if err != nil {
		return nil, err
	}
	defer rows.Free()
	at := rows.Data
	for _, s := range merged {
		if err := s.Rows(at[:s.Documents()]); err != nil {
			return nil, err
		}
		at = at[s.Documents():]
	}
	copy(at, m.fingerprints)
	in := segment.Input{Fingerprints: rows.Data}
	if x.config.IDs {
		in.IDs = idsOf(merged, m)
	}
	s, free, err := inMemory(context.Background(), in, o)
	if err != nil {
		return nil, err
	}
	return &Segment{Segment: s, first: first, free: free}, nil
}

// inMemory makes a segment outside the Go heap.
func inMemory(ctx context.Context, in segment.Input, o segment.Options) (_ *segment.Segment, free func() error, err error) {
	arena := new(store.Arena)
	defer func() {
		if err != nil {
			arena.Free()
		}
	}()
	if err := segment.Write(ctx, arena, in, o); err != nil {
		return nil, nil, err
	}
	source, err := arena.Source()
	if err != nil {
		return nil, nil, err
	}
	s, err := segment.Open(source)
	if err != nil {
		return nil, nil, err
	}
	return s, func() error { arena.Free(); return nil }, nil
}

// reserveMerge reserves the memory that a merge of so many documents takes: the rows, what the
// builder takes, and the new segment, of at most 10 bytes a document and table, and twice while a
// section of it grows; IDs are not counted. Without a budget it is of what this machine has left
// now. Of small merges nothing is counted.
func reserveMerge(docs int, o segment.Options, b *memory.Budget) (*memory.Reservation, error) {
	const small = 64 * memtableDocs
	if docs <= small {
		return nil, nil
	}
	need := segment.NeedBytes(uint64(docs), o) + uint64(docs)*(8+8+10*uint64(len(o.Design.Tables)+1))
	return b.Here().Reserve("merging "+humanize.Comma(int64(docs))+" documents", need)
}

// idsOf yields the IDs of the documents of segments and of the memtable behind them.
func idsOf(merged []*Segment, m *memtable) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, s := range merged {
			c := s.Segment.IDs().Cursor()
			for row := range s.Documents() {
				if !yield(c.ID(row)) {
					return
				}
			}
		}
		for _, id := range m.ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}
