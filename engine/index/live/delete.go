package live

import (
	"context"
	"slices"

	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/store"
	"ndd/engine/storage/wal"
)

// Delete deletes the documents that have these IDs and returns how many there were. Queries that
// begin after it has returned do not find them; their memory is given back by a later merge.
func (x *Index) Delete(ctx context.Context, ids ...string) (int, error) {
	return x.deleting(ctx, func() (docs []DocID, err error) {
		for _, id := range ids {
			if docs, err = x.appendHolders(docs, id); err != nil {
				return nil, err
			}
		}
		return docs, nil
	})
}

// DeleteFingerprint deletes the documents that have exactly this fingerprint, or, where they have two, exactly these two, and
// returns how many there were.
func (x *Index) DeleteFingerprint(ctx context.Context, f ...simhash.Fingerprint) (int, error) {
	c := x.Searcher()
	defer c.Done()
	return x.deleting(ctx, func() (rows []DocID, err error) {
		for which, f := range f {
			hits, err := c.Query(f, 0, 0, AllDocs)
			if err != nil {
				return nil, err
			}
			var have []DocID // first rows
			for _, h := range hits {
				for _, row := range h.Docs {
					if x.config.each() == 1 {
						have = append(have, row)
					} else if int(row&1) == which {
						have = append(have, row-DocID(which))
					}
				}
			}
			if which == 0 {
				rows = have
				continue
			}
			slices.Sort(have)
			rows = slices.DeleteFunc(rows, func(row DocID) bool {
				_, both := slices.BinarySearch(have, row)
				return !both
			})
		}
		return rows, nil
	})
}

// deletedMost are the rows of one record: 10 bytes each. It is even, so that both of a document are in one.
const deletedMost = 1 << 20

// deleting commits the deletion of the documents whose first rows find returns, which is called with x.mu held.
func (x *Index) deleting(ctx context.Context, find func() ([]DocID, error)) (int, error) {
	if err := x.lock(ctx); err != nil {
		return 0, err
	}
	docs, err := find()
	if err == nil && slices.Contains(docs, NoDoc) {
		x.writer.mu.Unlock()
		return 0, ErrNoDocs
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	deleted := len(docs)
	docs = x.config.withSeconds(docs, 0)
	last := wal.Position(x.logged.Load())
	for list := range slices.Chunk(docs, deletedMost) {
		if err != nil {
			break
		}
		last, err = x.commit(&change{delete: list})
	}
	x.writer.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return deleted, x.sync(ctx, last)
}

// kill deletes a document in memory. It needs x.mu.
func (x *Index) kill(doc, clock DocID) {
	v := x.current.Load()
	if m := v.memtableOf(doc); m != nil {
		m.dead.add(doc, clock)
		return
	}
	s := v.segmentOf(doc)
	if s == nil {
		s = x.incoming
	}
	if s != nil {
		if _, ok := s.numbers.row(doc); ok && s.dead.add(doc, clock) && s.file != nil {
			x.deleted = append(x.deleted, doc)
			x.wakeMerger()
		}
	}
}

// segmentOf returns the segment that a document is in, or was, if any.
func (v *version) segmentOf(doc DocID) *Segment {
	i, found := slices.BinarySearchFunc(v.segments, doc, func(s *Segment, doc DocID) int {
		switch {
		case s.end() <= doc:
			return -1
		case s.from > doc:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return v.segments[i]
}

// Find returns the document that has an ID; ok is false when none has.
func (x *Index) Find(id string) (doc DocID, ok bool, err error) {
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	if x.current.Load() == nil {
		return 0, false, ErrClosed
	}
	doc, ok, err = x.holder(id)
	return x.config.document(doc), ok, err
}

// holder returns the first row of the newest document that has an ID. It needs x.mu.
func (x *Index) holder(id string) (doc DocID, ok bool, err error) {
	err = x.holders(id, func(d DocID) bool {
		doc, ok = d, true
		return false
	})
	return doc, ok, err
}

// appendHolders appends the first rows of all documents that have an ID: one, unless it was built with more. It needs
// x.mu.
func (x *Index) appendHolders(dst []DocID, id string) ([]DocID, error) {
	err := x.holders(id, func(d DocID) bool {
		dst = append(dst, d)
		return true
	})
	return dst, err
}

// holders calls yield with each document that has an ID, newest first but for those of one segment,
// until it returns false. It needs x.mu. The first call for an index that was built and is only read
// makes an index of all IDs in memory, at about 200 ns and 11 bytes a document.
func (x *Index) holders(id string, yield func(DocID) bool) (err error) {
	if id == "" || !x.config.IDs {
		return nil
	}
	defer store.CatchFault(&err)()
	v, now := x.current.Load(), x.wall.now()
	clock, h := v.end(), x.key.hash(id)
	for _, m := range slices.Backward(v.memtables) {
		if doc, ok := m.holder(id, h); ok && !m.hides(doc, clock, now) && !yield(doc) {
			return nil
		}
	}
	segments := v.segments
	if x.incoming != nil && !slices.Contains(segments, x.incoming) {
		segments = append(slices.Clip(segments), x.incoming)
	}
	for _, s := range slices.Backward(segments) {
		if err := x.indexIDs(s); err != nil {
			return err
		}
		going := true
		s.ids.rows(h, func(row uint64) bool {
			doc := s.numbers.doc(row)
			if s.hides(row, doc, clock, now) {
				return true
			}
			var held string
			if held, err = x.lookup.of(v, s, row); err != nil {
				going = false
			} else if held == id {
				going = yield(doc)
			}
			return going
		})
		if !going {
			return err
		}
	}
	return nil
}
