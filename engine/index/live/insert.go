package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ndd/asm"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/index/live/version"
	"ndd/engine/storage/wal"
)

// ErrConflict is wrapped where an ID is taken and conflicts are to be refused.
var ErrConflict = errors.New("a document with this ID is there already")

// ErrTooMany is wrapped where a call has more documents than are inserted whole or not at all.
var ErrTooMany = errors.New("too many documents for one call")

// An Outcome says what became of a document that was to be inserted. Where it was not and nothing
// near kept it out, a document of its ID did, which is Doc.
type Outcome struct {
	Inserted bool
	Before   bool         // by an earlier call, with the same content: nothing has changed now
	Replaced bool         // it took the place of a document of its ID
	Doc      rows.DocID   // number of the document that was inserted
	Near     []search.Hit // what kept it out, nearest first
	ID       string       // of the first document of the nearest, where documents have IDs
}

// Insert adds documents, all or none, in their order: those that are inserted have consecutive
// numbers. They are found by every query that begins after Insert has returned, and then they are
// as durable as the index is to make them. It waits for room and for the disk, as long as ctx
// lasts; when ctx ends while it waits for the disk, the documents are in the index unless the disk
// fails. An error that wraps [ErrUnknown] leaves open if they are; after every other one they are
// not.
func (x *Index) Insert(ctx context.Context, docs []rows.Doc) ([]Outcome, error) {
	w := x.writer
	if len(docs) == 0 {
		return nil, ctx.Err()
	}
	if err := w.insertable(docs); err != nil {
		return nil, err
	}
	if err := w.lockToInsert(ctx); err != nil {
		return nil, err
	}
	p := w.prepare(&w.pending)
	out := make([]Outcome, len(docs))
	for i, d := range docs {
		var err error
		if out[i], err = p.add(d); err != nil {
			w.mu.Unlock()
			return nil, err
		}
	}
	at, err := w.commit(&p.change)
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	w.index(0)
	return out, w.sync(ctx, at)
}

// insertable refuses what does not fit in one record of a log, whether there is one or not.
func (w *writer) insertable(docs []rows.Doc) error {
	if n := recordBytes(docs, &w.config); n > wal.RecordMax {
		return fmt.Errorf("%w: %d documents take %d bytes, and at most %d are inserted together", ErrTooMany, len(docs), n,
			wal.RecordMax)
	}
	return nil
}

// pendingDocs are how many documents of an insert keep their memory for the next one.
const pendingDocs = 4096

// prepare begins an insert in p, memory that is used again. The caller holds writer.mu.
func (w *writer) prepare(p *pending) *pending {
	if cap(p.docs) > pendingDocs { // a large one is rare, and its memory is not kept
		*p = pending{}
	}
	p.writer, p.own, p.prints = w, nil, p.prints[:0]
	p.change = change{first: w.versions.Current().End(), docs: p.docs[:0], expires: p.expires[:0], delete: p.delete[:0],
		by: p.by[:0]}
	return p
}

// add decides a document that has no neighbours.
func (p *pending) add(d rows.Doc) (Outcome, error) {
	w := p.writer
	row := p.first + rows.DocID(len(p.docs))
	o := Outcome{Inserted: true, Doc: row}
	expires := w.versions.Clock.After(cmp.Or(d.TTL, w.config.TTL))
	if d.ID != "" && w.config.IDs {
		conflict := cmp.Or(d.OnConflict, w.config.OnConflict, rows.Replace)
		held, ok, err := p.holder(d.ID)
		switch {
		case err != nil:
			return o, err
		case ok && conflict == rows.Refuse:
			return o, fmt.Errorf("%w: %.200q is document %d", ErrConflict, d.ID, held)
		case ok && conflict == rows.Keep:
			return Outcome{Doc: held}, nil
		}
		o.Replaced = ok
		if p.delete, err = w.appendHolders(p.delete, d.ID, 0); err != nil {
			return o, err
		}
		if ok && held >= p.first {
			p.delete = append(p.delete, held)
		}
		for len(p.by) < len(p.delete) {
			p.by = append(p.by, row)
		}
		if p.own == nil {
			p.own = make(map[string]int)
		}
		p.own[d.ID] = len(p.docs)
	}
	p.append(d, expires)
	return o, nil
}

// append appends a document.
func (p *pending) append(d rows.Doc, expires rows.Time) {
	p.change.add(d, expires)
	p.prints = append(p.prints, uint64(d.Fingerprint))
}

// holder returns the document that has an ID, one of this change before all others.
func (p *pending) holder(id string) (rows.DocID, bool, error) {
	if i, ok := p.own[id]; ok {
		return p.first + rows.DocID(i), true, nil
	}
	return p.writer.holder(id)
}

// near appends the documents of the change that are within k of a query, not replaced, and accepted
// by the verifier.
func (p *pending) near(dst []rows.Match, positions []uint32, query uint64, k int, verifier rows.Verifier) []rows.Match {
	for at := 0; at < len(p.prints); {
		n, done := asm.Within64(positions, p.prints[at:], query, k)
		for _, i := range positions[:n] {
			doc := p.first + rows.DocID(at) + rows.DocID(i)
			if slices.Contains(p.delete, doc) {
				continue
			}
			if similarity, ok := verifier.Judge(0, &p.docs[at+int(i)].Sketch); ok {
				dst = append(dst, rows.NewDocMatch(0, query, p.prints[at+int(i)], doc, similarity))
			}
		}
		at += done
	}
	return dst
}

// index puts the newest documents into blocks where many have come together, unless another
// goroutine does. Inserts call it after they have released writer.mu, with a reader's slot.
func (w *writer) index(slot uint32) {
	if v := w.versions.Current(); v == nil || !v.Newest().IndexDue() {
		return // closed, or as a rule; only the memory of blocks needs a hold
	}
	v, err := w.versions.Hold(slot)
	if err != nil {
		return
	}
	grown := v.Newest().TryIndex()
	w.versions.Release(v, slot)
	if !grown {
		return
	}
	w.acquire()
	if w.versions.Current() != nil {
		w.grown()
	}
	w.mu.Unlock()
}

// lockToInsert is lock, but fails with [ErrNoRoom] when there is no memory.
func (w *writer) lockToInsert(ctx context.Context) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	if w.short == nil {
		return nil
	}
	if w.reserve(w.versions.Current()); w.short == nil { // somebody gave memory back
		return nil
	}
	defer w.mu.Unlock()
	return fmt.Errorf("%w: %w", ErrNoRoom, w.short)
}

// lock takes mu once the index may be written to and has room. It waits while memtables are too
// full, until ctx ends. Without an error the caller unlocks.
func (w *writer) lock(ctx context.Context) error {
	w.acquire()
	for {
		var err error
		switch {
		case w.closed:
			err = version.ErrClosed
		case w.log != nil && w.log.Failing():
			if err = w.resume(); err == nil {
				continue
			}
		case w.hasRoom():
			return nil
		case w.flushFailed != nil:
			err = fmt.Errorf("%w, and those that are there cannot be written to files: %w", ErrNoRoom, w.flushFailed)
		}
		if err != nil {
			w.mu.Unlock()
			return err
		}
		if w.room == nil {
			w.room = make(chan struct{})
		}
		room := w.room
		w.mu.Unlock()
		w.wakeFlusher()
		select {
		case <-room:
		case <-ctx.Done():
			return fmt.Errorf("waiting for room to insert: %w", ctx.Err())
		}
		w.mu.Lock()
	}
}
