package engine

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

const (
	// bufferDocs fingerprints are scanned whole by every query: 32 KiB,
	// under a microsecond with AVX-512.
	bufferDocs = 4096
	// buffersMax is how many full buffers may wait to become segments before
	// inserts wait for that: 16 of them cost a query some 10 microseconds.
	buffersMax = 16
)

// ErrClosed is what an insert into a closed index returns.
var ErrClosed = errors.New("the index is closed")

// A buffer holds the newest documents. One writer appends, readers see the
// first len() documents.
type buffer struct {
	first        DocID
	fingerprints []uint64 // bufferDocs of them
	ids          []string // nil when documents have none
	n            atomic.Int64
}

func newBuffer(first DocID, named bool) *buffer {
	b := &buffer{first: first, fingerprints: make([]uint64, bufferDocs)}
	if named {
		b.ids = make([]string, bufferDocs)
	}
	return b
}

func (b *buffer) len() int { return int(b.n.Load()) }

// add appends a document; the store of n publishes it.
func (b *buffer) add(f uint64, id string) DocID {
	i := b.n.Load()
	b.fingerprints[i] = f
	if b.ids != nil {
		b.ids[i] = id
	}
	b.n.Store(i + 1)
	return b.first + DocID(i)
}

// inserter is the writing side of an Index.
type inserter struct {
	mu     sync.Mutex // held by the one writer at a time
	room   sync.Cond  // signalled when buffers became a segment
	closed bool
	failed error // of the sealer; inserts report it
	full   chan struct{}
	done   chan struct{}
}

func (w *inserter) start(x *Index) {
	w.room.L = &w.mu
	w.full = make(chan struct{}, 1)
	w.done = make(chan struct{})
	go x.seal()
}

func (w *inserter) stop() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.full)
	}
	w.room.Broadcast()
	w.mu.Unlock()
	<-w.done
}

// A Doc is a document to insert.
type Doc struct {
	Fingerprint simhash.Fingerprint
	ID          string // left out when the index keeps none
}

// Insert adds documents and returns the number of the first; the others
// follow it. They are found by every query that begins after Insert returned.
// They live in memory and are gone with the process.
func (x *Index) Insert(docs []Doc) (first DocID, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, d := range docs {
		id, err := x.insert(d)
		if err != nil {
			return first, err
		}
		if i == 0 {
			first = id
		}
	}
	return first, nil
}

// CheckAndInsert adds d unless something within distance k is there already,
// which it returns then, each hit with the first docs of its documents. Of two near-duplicates that arrive together exactly
// one is added.
func (x *Index) CheckAndInsert(d Doc, k, docs int) (id DocID, near []Hit, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	near, err = x.Query(d.Fingerprint, k, docs)
	if err != nil || len(near) > 0 {
		return 0, near, err
	}
	id, err = x.insert(d)
	return id, nil, err
}

// insert needs x.mu.
func (x *Index) insert(d Doc) (DocID, error) {
	for {
		switch {
		case x.failed != nil:
			return 0, x.failed
		case x.closed:
			return 0, ErrClosed
		}
		v := x.current.Load()
		last := v.buffers[len(v.buffers)-1]
		if last.len() < bufferDocs {
			return last.add(uint64(d.Fingerprint), d.ID), nil
		}
		if len(v.buffers) > buffersMax {
			x.room.Wait()
			continue
		}
		buffers := append(v.buffers[:len(v.buffers):len(v.buffers)], newBuffer(last.first+bufferDocs, x.named))
		x.swap(&version{segments: v.segments, buffers: buffers})
		select {
		case x.full <- struct{}{}:
		default: // the sealer is awake
		}
	}
}

// seal turns full buffers into segments until the index is closed.
func (x *Index) seal() {
	defer close(x.done)
	for range x.full {
		for {
			v := x.current.Load()
			if len(v.buffers) < 2 {
				break
			}
			if err := x.sealOldest(v); err != nil {
				x.mu.Lock()
				x.failed = err
				x.room.Broadcast()
				x.mu.Unlock()
				return
			}
		}
	}
}

// sealOldest makes a segment of the oldest buffer and of the segments in
// memory before it that are not larger than what they are merged with, so that
// sizes double from one to the next, as in a binary counter. Segments of files
// stay as they are. Where memory does not do for a merge, the buffer becomes a
// segment of its own.
func (x *Index) sealOldest(v *version) error {
	from, size := len(v.segments), uint64(bufferDocs)
	for from > len(x.files) && v.segments[from-1].Documents() <= size {
		from--
		size += v.segments[from].Documents()
	}
	sealed, err := x.merge(v.segments[from:], v.buffers[0])
	if errors.Is(err, memory.ErrTooLarge) && from < len(v.segments) {
		from = len(v.segments)
		sealed, err = x.merge(nil, v.buffers[0])
	}
	if err != nil {
		return err
	}
	x.mu.Lock() // against insert, which adds buffers
	defer x.mu.Unlock()
	now := x.current.Load()
	segments := append(v.segments[:from:from], sealed)
	x.room.Broadcast()
	return x.swap(&version{segments: segments, buffers: now.buffers[1:]})
}

// merge makes a segment in memory of segments that follow one another and of
// the buffer behind them. They are of the current version, which stays current
// meanwhile, but for buffers. The error wraps [memory.ErrTooLarge] when memory
// will not do.
func (x *Index) merge(merged []*placed, b *buffer) (*placed, error) {
	first, docs := b.first, len(b.fingerprints)
	if len(merged) > 0 {
		first = merged[0].first
		docs = int(b.first-first) + len(b.fingerprints)
	}
	o := segment.Options{Design: x.design, Threads: 1}
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
	copy(at, b.fingerprints)
	in := segment.Input{Fingerprints: rows.Data}
	if x.named {
		in.IDs = idsOf(merged, b)
	}
	arena := new(store.Arena)
	if err := segment.Write(context.Background(), arena, in, o); err != nil {
		arena.Free()
		return nil, err
	}
	source, err := arena.Source()
	if err != nil {
		arena.Free()
		return nil, err
	}
	s, err := segment.Open(source)
	if err != nil {
		arena.Free()
		return nil, err
	}
	return &placed{Segment: s, first: first, free: func() error { arena.Free(); return nil }}, nil
}

// reserveMerge reserves the memory that a merge of so many documents takes: the rows, what the
// builder takes, and the new segment, of at most 10 bytes a document and table, and twice while a
// section of it grows; IDs are not counted. Without a budget it is of what this machine has left
// now. Of small merges nothing is counted.
func reserveMerge(docs int, o segment.Options, b *memory.Budget) (*memory.Reservation, error) {
	const small = 64 * bufferDocs
	if docs <= small {
		return nil, nil
	}
	need := segment.NeedBytes(uint64(docs), o) + uint64(docs)*(8+8+10*uint64(len(o.Design.Tables)+1))
	return b.Here().Reserve("merging "+humanize.Comma(int64(docs))+" documents", need)
}

func idsOf(merged []*placed, b *buffer) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, s := range merged {
			c := s.Segment.IDs().Cursor()
			for row := range s.Documents() {
				if !yield(c.ID(row)) {
					return
				}
			}
		}
		for _, id := range b.ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}
