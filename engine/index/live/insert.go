package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"ndd/asm"
	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/wal"
)

// A Doc is a document to insert.
type Doc struct {
	Fingerprint simhash.Fingerprint
	Second      simhash.Fingerprint // where the recipe makes two fingerprints of a document
	ID          string              // empty for none, and where the index keeps no IDs
	TextBytes   uint32              // length of the text; 0 where it is not known, and where the index keeps no lengths

	TTL        time.Duration // how long it is kept, to the second above; 0 is as the index has it; see Forever
	OnConflict OnConflict    // what becomes of it when its ID is taken; 0 is as the index has it
}

// OnConflict says what becomes of a document whose ID another document has.
type OnConflict int

// What may become of it.
const (
	Replace OnConflict = 1 + iota // it takes the other's place, which is deleted
	Keep                          // it is not inserted
	Refuse                        // the call fails with ErrConflict and inserts nothing
)

// ErrConflict is wrapped where an ID is taken and conflicts are to be refused.
var ErrConflict = errors.New("a document with this ID is there already")

// ErrTooMany is wrapped where a call has more documents than are inserted whole or not at all.
var ErrTooMany = errors.New("too many documents for one call")

// An Outcome says what became of a document that was to be inserted. Where it was not and nothing
// near kept it out, a document of its ID did, which is Doc.
type Outcome struct {
	Inserted bool
	Replaced bool   // it took the place of a document of its ID
	Doc      DocID  // number of the document that was inserted
	Near     []Hit  // what kept it out, nearest first
	ID       string // of the first document of the nearest, where documents have IDs
}

// Insert adds documents, all or none, in their order: those that are inserted have consecutive
// numbers. They are found by every query that begins after Insert has returned, and then they are
// as durable as the index is to make them. It waits for room and for the disk, as long as ctx
// lasts; when ctx ends while it waits for the disk, the documents are in the index unless the disk fails. An error that wraps
// [ErrUnknown] leaves open if they are; after every other one they are not.
func (x *Index) Insert(ctx context.Context, docs []Doc) ([]Outcome, error) {
	if len(docs) == 0 {
		return nil, ctx.Err()
	}
	if err := x.insertable(docs); err != nil {
		return nil, err
	}
	if err := x.lockToInsert(ctx); err != nil {
		return nil, err
	}
	p := x.prepare(&x.pending)
	out := make([]Outcome, len(docs))
	for i, d := range docs {
		var err error
		if out[i], err = p.add(d); err != nil {
			x.writer.mu.Unlock()
			return nil, err
		}
	}
	at, err := x.commit(&p.change)
	x.writer.mu.Unlock()
	if err != nil {
		return nil, err
	}
	x.index(0)
	return out, x.sync(ctx, at)
}

// insertable refuses what does not fit in one record of a log, whether there is one or not.
func (x *Index) insertable(docs []Doc) error {
	if n := recordBytes(docs, &x.config); n > wal.RecordMax {
		return fmt.Errorf("%w: %d documents take %d bytes, and at most %d are inserted together", ErrTooMany, len(docs), n, wal.RecordMax)
	}
	return nil
}

// A pending insert is decided upon, document after document, and then committed as one change. It
// needs x.mu from the beginning to the end.
type pending struct {
	index *Index
	change
	own    map[string]int // place in docs of the documents of each ID
	prints []uint64       // of docs, which are rows
}

// pendingDocs are how many documents of an insert keep their memory for the next one.
const pendingDocs = 4096

// prepare begins an insert in p, memory that is used again. It needs x.mu.
func (x *Index) prepare(p *pending) *pending {
	if cap(p.docs) > pendingDocs { // a large one is rare, and its memory is not kept
		*p = pending{}
	}
	p.index, p.own, p.prints = x, nil, p.prints[:0]
	p.change = change{first: x.current.Load().end(), docs: p.docs[:0], expires: p.expires[:0], delete: p.delete[:0], by: p.by[:0]}
	return p
}

// add decides upon a document that nothing near keeps out.
func (p *pending) add(d Doc) (Outcome, error) {
	x := p.index
	row := p.first + DocID(len(p.docs))
	o := Outcome{Inserted: true, Doc: x.config.document(row)}
	expires := x.wall.after(cmp.Or(d.TTL, x.config.TTL))
	if d.ID != "" && x.config.IDs {
		conflict := cmp.Or(d.OnConflict, x.config.OnConflict, Replace)
		held, ok, err := p.holder(d.ID)
		switch {
		case err != nil:
			return o, err
		case ok && conflict == Refuse:
			return o, fmt.Errorf("%w: %.200q is document %d", ErrConflict, d.ID, x.config.document(held))
		case ok && conflict == Keep:
			return Outcome{Doc: x.config.document(held)}, nil
		case ok:
			o.Replaced = true
			before := len(p.delete)
			if p.delete, err = x.appendHolders(p.delete, d.ID); err != nil {
				return o, err
			}
			if held >= p.first {
				p.delete = append(p.delete, held)
			}
			p.delete = x.config.withSeconds(p.delete, before)
			for len(p.by) < len(p.delete) {
				p.by = append(p.by, row)
			}
		}
		if p.own == nil {
			p.own = make(map[string]int)
		}
		p.own[d.ID] = len(p.docs)
	}
	p.append(d, expires)
	return o, nil
}

// append appends the rows of a document.
func (p *pending) append(d Doc, expires moment) {
	second := Doc{Fingerprint: d.Second, TextBytes: d.TextBytes}
	d.Second = 0
	p.change.add(d, expires)
	if p.index.config.each() > 1 {
		p.change.add(second, expires)
	}
	for _, row := range p.docs[len(p.prints):] {
		p.prints = append(p.prints, uint64(row.Fingerprint))
	}
}

// holder returns the first row of the document that has an ID, one of this change before all others.
func (p *pending) holder(id string) (DocID, bool, error) {
	if i, ok := p.own[id]; ok {
		return p.first + DocID(i), true, nil
	}
	return p.index.holder(id)
}

// near returns those of the change's own rows that are within k of a query, not replaced, and not left out for their lengths.
func (p *pending) near(dst []Match, positions []uint32, queries []uint64, k int, lengths Lengths) []Match {
	for q, query := range queries {
		for at := 0; at < len(p.prints); {
			n, done := asm.Within64(positions, p.prints[at:], query, k)
			for _, i := range positions[:n] {
				row := p.first + DocID(at) + DocID(i)
				if f := p.prints[at+int(i)]; !slices.Contains(p.delete, row) && lengths.take(q, p.docs[at+int(i)].TextBytes) {
					dst = append(dst, Match{q, bits.OnesCount64(f ^ query), f, inMemtable, row})
				}
			}
			at += done
		}
	}
	return dst
}

// commit makes a change: in the log, then in memory. It needs x.mu. After an error nothing has
// changed. The change may be acknowledged when x.sync has returned for its position.
func (x *Index) commit(c *change) (at wal.Position, err error) {
	if len(c.docs) == 0 && len(c.delete) == 0 && !c.gap {
		return 0, nil
	}
	if x.log != nil {
		x.record = c.append(x.record[:0], &x.config)
		if at, err = x.log.Append(x.record); err != nil {
			return 0, fmt.Errorf("%w: %w", errRefused, err)
		}
		x.logged.Store(uint64(at))
	}
	return at, x.apply(c)
}

// apply makes a change in memory. It needs x.mu.
func (x *Index) apply(c *change) error {
	if c.gap {
		err := x.skipTo(c.first)
		x.committed.Store(uint64(c.first))
		return err
	}
	for i, doc := range c.delete {
		if doc < c.first || len(c.docs) == 0 {
			x.kill(doc, c.clock(i, x.current.Load().end()))
		}
	}
	x.add(c.docs, c.expires)
	for i, doc := range c.delete {
		if doc >= c.first && len(c.docs) > 0 {
			x.kill(doc, c.clock(i, x.current.Load().end()))
		}
	}
	x.committed.Store(uint64(x.current.Load().end())) // and now all of it is seen, at once
	return nil
}

// skipTo has the next document numbered first, which is beyond all that are there. It needs x.mu.
func (x *Index) skipTo(first DocID) error {
	e := Edit{addMemtable: x.newMemtable(first)}
	memtables := x.current.Load().memtables
	if last := memtables[len(memtables)-1]; last.len() == 0 {
		e.removeMemtables = []*memtable{last}
	}
	return x.Apply(e)
}

// clock returns that of deletion i: the number of the document that replaces it, or the last number
// before the index's clock, with which it is seen at once.
func (c *change) clock(i int, clock DocID) DocID {
	if i < len(c.by) {
		return c.by[i]
	}
	return max(clock, 1) - 1
}

// add appends documents to memtables, as many as it takes. It needs x.mu.
func (x *Index) add(docs []Doc, expires []moment) {
	v := x.current.Load()
	last := v.newest()
	for {
		before := last.size.Load()
		n := last.add(docs, expires, x.memtableBytes())
		if docs = docs[n:]; len(docs) == 0 {
			if last.size.Load() != before {
				x.grown()
			}
			return
		}
		expires = expires[min(n, len(expires)):]
		last = x.newMemtable(last.end())
		x.Apply(Edit{addMemtable: last})
		x.wakeFlusher()
	}
}
