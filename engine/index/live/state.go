package live

import (
	"slices"

	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
)

// A docState changes the documents of an index in memory: it applies and undoes changes, and makes the versions that
// readers see. The caller of its methods holds writer.mu, or is the only user of the index.
type docState struct {
	*indexState
	space   admission
	deleted []rows.DocID // documents of files that were deleted since the last flush began
}

// fill sets the first version of an index. It deletes the documents that the files of later segments list.
func (st *docState) fill(segments []*version.Segment, next rows.DocID) error {
	for _, s := range segments {
		if s.Expires.First != 0 {
			st.versions.Clock.Expiring.Store(true)
		}
	}
	err := st.applyEdit(version.Edit{Add: segments, AddMemtable: st.newMemtable(next)})
	v := st.versions.Current()
	for _, s := range v.Segments {
		for _, doc := range s.Older {
			if owner, _, ok := v.Row(doc); ok {
				owner.Tombstones.Add(doc, rows.DeletedBy(0))
			}
		}
	}
	st.versions.Commit()
	return err
}

// applyEdit publishes the version of an edit. It returns errors of freeing memory.
func (st *docState) applyEdit(e version.Edit) error {
	next := st.versions.Next(e)
	st.space.reserve(next)
	return st.versions.Publish(next)
}

// newMemtable returns an empty memtable for documents from number first on.
func (st *docState) newMemtable(first rows.DocID) *memtable.Table {
	c := &st.config
	o := memtable.Options{First: first, MaxDocs: int(c.flushDocs), MaxBytes: st.space.memtableBytes(), K: c.Design.K,
		Sketches: c.Sketches}
	if c.IDs {
		o.Key = &st.key
	}
	return memtable.New(o)
}

// apply makes a change in memory, which readers see once it is published.
func (st *docState) apply(c *change) error {
	if c.gap {
		return st.skipTo(c.first)
	}
	st.add(c.docs, c.expires)
	d := st.versions.NextDeletion()
	for i, doc := range c.delete {
		if i < len(c.replacedBy) {
			d = rows.ReplacedBy(c.replacedBy[i])
		}
		st.kill(doc, d)
	}
	return nil
}

// skipTo sets the number of the next document to first, which must be larger than all numbers in use.
func (st *docState) skipTo(first rows.DocID) error {
	e := version.Edit{AddMemtable: st.newMemtable(first)}
	if last := st.versions.Current().Newest(); last.Len() == 0 {
		e.RemoveMemtables = []*memtable.Table{last}
	}
	return st.applyEdit(e)
}

// add appends documents to memtables.
func (st *docState) add(docs []rows.Doc, expires []rows.Time) {
	for last := st.versions.Current().Newest(); ; {
		oldBytes := last.Bytes()
		n := last.Add(docs, expires)
		if docs = docs[n:]; len(docs) == 0 {
			if last.Bytes() != oldBytes {
				st.space.grown()
			}
			return
		}
		expires = expires[min(n, len(expires)):]
		last = st.newMemtable(last.End())
		st.applyEdit(version.Edit{AddMemtable: last})
		st.wakeFlusher()
	}
}

// kill deletes a document in memory.
func (st *docState) kill(doc rows.DocID, d rows.Deletion) {
	v := st.versions.Current()
	if m := v.MemtableOf(doc); m != nil {
		m.Tombstones.Add(doc, d)
		return
	}
	if s, _, ok := v.Row(doc); ok && s.Tombstones.Add(doc, d) {
		if st.folder.durable() {
			st.deleted = append(st.deleted, doc)
		}
		st.wakeMerger()
	}
}

// undo restores the documents that a change deleted, and deletes those that it inserted. A query in between may see
// both.
func (st *docState) undo(c *change) {
	c.delete = slices.DeleteFunc(c.delete, func(doc rows.DocID) bool { return len(c.docs) > 0 && doc >= c.first })
	st.revive(c.delete)
	d := st.versions.NextDeletion()
	for i := range c.docs {
		st.kill(c.first+rows.DocID(i), d)
	}
	st.versions.Commit()
}

// revive restores deleted documents.
func (st *docState) revive(docs []rows.DocID) {
	v := st.versions.Current()
	for _, doc := range docs {
		if m := v.MemtableOf(doc); m != nil {
			m.Restore(doc)
		} else if s := v.SegmentOf(doc); s != nil {
			s.Tombstones.Remove(doc)
		}
	}
	st.deleted = st.stillDeleted(st.deleted)
}

// stillDeleted returns the documents among docs that are in a file and deleted. The others are in no file any more, or
// their deletions were undone.
func (st *docState) stillDeleted(docs []rows.DocID) []rows.DocID {
	v := st.versions.Current()
	return slices.DeleteFunc(docs, func(doc rows.DocID) bool {
		s, _, ok := v.Row(doc)
		return !ok || !s.Tombstones.Has(doc, st.versions.Latest().Moment)
	})
}
