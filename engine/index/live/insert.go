package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
)

// ErrConflict is wrapped if an ID is taken and conflicts are refused.
var ErrConflict = errors.New("a document with this ID already exists")

// An Outcome is the result of inserting a document. If Inserted is false and Near is empty, a document with the same ID
// exists: Doc is its number.
type Outcome struct {
	Inserted bool
	Repeated bool         // an earlier call inserted the same content: nothing has changed
	Replaced bool         // it replaced a document with its ID
	Doc      rows.DocID   // number of the document
	Near     []search.Hit // near-duplicates that prevented the insert, nearest first
	ID       string       // ID of the first document of the nearest hit, if documents have IDs
}

// Insert inserts documents, all or none, in order: those that are inserted have consecutive numbers. Every query that
// begins after Insert has returned finds them, and they are in the log. Insert waits for space and for the
// disk until ctx ends. If ctx ends while it waits for the disk, the documents are inserted unless the disk fails. After
// an error that wraps [ErrUnknown] it is unknown whether they are; after other errors they are not.
func (x *Index) Insert(ctx context.Context, docs []rows.Doc) ([]Outcome, error) {
	w := x.writer
	if len(docs) == 0 {
		return nil, ctx.Err()
	}
	if err := checkRecord(docs, &w.config); err != nil {
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
	position, err := w.commit(&p.change)
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	w.index(0)
	return out, w.sync(ctx, position)
}

// pendingDocs is the maximum number of documents for which an insert keeps its memory.
const pendingDocs = 4096

// prepare begins an insert in p, whose memory it reuses. The caller holds writer.mu.
func (w *writer) prepare(p *pendingInsert) *pendingInsert {
	if cap(p.docs) > pendingDocs { // a large one is rare, and its memory is not kept
		*p = pendingInsert{}
	}
	p.writer, p.ownIDs, p.fingerprints = w, nil, p.fingerprints[:0]
	p.change = change{first: w.versions.Current().End(), docs: p.docs[:0], expires: p.expires[:0], delete: p.delete[:0],
		replacedBy: p.replacedBy[:0]}
	return p
}

// add decides on a document without near-duplicates.
func (p *pendingInsert) add(d rows.Doc) (Outcome, error) {
	// Number the document.
	w := p.writer
	row := p.first + rows.DocID(len(p.docs))
	o := Outcome{Inserted: true, Doc: row}
	expires := w.versions.Clock.After(cmp.Or(d.TTL, w.config.TTL))
	// Apply the conflict policy to its ID.
	if d.ID != "" && w.config.IDs {
		conflict := cmp.Or(d.OnConflict, w.config.OnConflict, rows.Replace)
		holder, ok, err := p.holder(d.ID)
		switch {
		case err != nil:
			return o, err
		case ok && conflict == rows.Refuse:
			return o, fmt.Errorf("%w: %.200q is document %d", ErrConflict, d.ID, holder)
		case ok && conflict == rows.Keep:
			return Outcome{Doc: holder}, nil
		}
		// The document replaces all that have its ID, even expired ones.
		o.Replaced = ok
		if p.delete, err = w.ids.all(p.delete, d.ID, 0); err != nil {
			return o, err
		}
		if ok && holder >= p.first {
			p.delete = append(p.delete, holder)
		}
		for len(p.replacedBy) < len(p.delete) {
			p.replacedBy = append(p.replacedBy, row)
		}
		if p.ownIDs == nil {
			p.ownIDs = make(map[string]int)
		}
		p.ownIDs[d.ID] = len(p.docs)
	}
	p.append(d, expires)
	return o, nil
}

// append appends a document.
func (p *pendingInsert) append(d rows.Doc, expires rows.Time) {
	p.change.add(d, expires)
	p.fingerprints = append(p.fingerprints, uint64(d.Fingerprint))
}

// holder returns the document with an ID, first among the documents of this change.
func (p *pendingInsert) holder(id string) (rows.DocID, bool, error) {
	if i, ok := p.ownIDs[id]; ok {
		return p.first + rows.DocID(i), true, nil
	}
	return p.writer.ids.newest(id)
}

// near appends the documents of the change that are within k of a query, not replaced, and accepted by the verifier.
func (p *pendingInsert) near(dst []rows.Match, positions []uint32, query uint64, k int, verifier rows.Verifier) []rows.Match {
	for pos := 0; pos < len(p.fingerprints); {
		n, done := asm.Within64(positions, p.fingerprints[pos:], query, k)
		for _, i := range positions[:n] {
			doc := p.first + rows.DocID(pos) + rows.DocID(i)
			if slices.Contains(p.delete, doc) {
				continue
			}
			if similarity, ok := verifier.Judge(0, &p.docs[pos+int(i)].Sketch); ok {
				dst = append(dst, rows.NewDocMatch(0, query, p.fingerprints[pos+int(i)], doc, similarity))
			}
		}
		pos += done
	}
	return dst
}

// index moves the newest documents into blocks if there are enough, unless another goroutine does. Inserts call it
// after they have released writer.mu, with the slot of a reader.
func (w *writer) index(slot uint32) {
	if v := w.versions.Current(); v == nil || !v.Newest().IndexDue() {
		return // the usual case; only the memory of blocks needs a hold
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
		w.state.space.grown()
	}
	w.mu.Unlock()
}

// lockToInsert is like lock, but fails with [ErrNoRoom] if there is no memory.
func (w *writer) lockToInsert(ctx context.Context) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	space := &w.state.space
	if space.short == nil {
		return nil
	}
	if space.reserve(w.versions.Current()); space.short == nil { // memory was released
		return nil
	}
	defer w.mu.Unlock()
	return fmt.Errorf("%w: %w", ErrNoRoom, space.short)
}

// lock takes mu when the index is open and has space. It waits while memtables are too full, until ctx ends. Without an
// error the caller must unlock.
func (w *writer) lock(ctx context.Context) error {
	w.acquire()
	for space := &w.state.space; ; {
		// Return with the lock, or with the reason why there will be no space.
		var err error
		switch {
		case w.closed:
			err = version.ErrClosed
		case w.log != nil && w.log.Failing():
			if err = w.resume(); err == nil {
				continue
			}
		case space.hasRoom():
			return nil
		case space.flushFailed != nil:
			err = fmt.Errorf("%w, and writing them to files fails: %w", ErrNoRoom, space.flushFailed)
		}
		if err != nil {
			w.mu.Unlock()
			return err
		}
		// Wait without the lock until something changes.
		if space.room == nil {
			space.room = make(chan struct{})
		}
		room := space.room
		w.mu.Unlock()
		w.wakeFlusher()
		select {
		case <-room:
		case <-ctx.Done():
			return fmt.Errorf("waiting for memory to insert: %w", ctx.Err())
		}
		w.mu.Lock()
	}
}
