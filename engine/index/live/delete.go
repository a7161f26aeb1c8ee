package live

import (
	"context"
	"slices"
	"strings"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/storage/wal"
)

// Delete deletes the documents with these IDs and returns their number. Queries that begin after it has returned do not
// find them. Every query finds all of them or none. A later merge frees their memory.
func (x *Index) Delete(ctx context.Context, ids ...string) (int, error) {
	return x.writer.deleteFound(ctx, func() (docs []rows.DocID, err error) {
		for _, id := range ids {
			if docs, err = x.writer.ids.all(docs, id, x.versions.Clock.Now()); err != nil {
				return nil, err
			}
		}
		return docs, nil
	})
}

// DeletePrefix deletes the documents whose IDs begin with a prefix, as [Index.Delete] does. It lists the documents
// without a lock, at about 50 ns each. Changes wait only while it lists the documents that were inserted meanwhile.
func (x *Index) DeletePrefix(ctx context.Context, prefix string) (int, error) {
	w, err := x.View()
	if err != nil {
		return 0, err
	}
	var docs []rows.DocID
	collect := func(doc rows.DocID, id string) bool {
		if id != "" && strings.HasPrefix(id, prefix) {
			docs = append(docs, doc)
		}
		return true
	}
	err = search.List(ctx, w, 0, collect)
	w.Release()
	if err != nil {
		return 0, err
	}
	return x.writer.deleteFound(ctx, func() ([]rows.DocID, error) {
		now := x.versions.Latest()
		docs = slices.DeleteFunc(docs, func(doc rows.DocID) bool { return now.Version.Hides(doc, now.Moment, now.Now) })
		err := search.List(ctx, now, w.Clock, collect)
		return docs, err
	})
}

// DeleteFingerprint deletes the documents with exactly this fingerprint and returns their number.
func (x *Index) DeleteFingerprint(ctx context.Context, f simhash.Fingerprint) (int, error) {
	c := x.Searcher()
	defer c.Done()
	return x.writer.deleteFound(ctx, func() (docs []rows.DocID, err error) {
		hits, err := c.Query(f, 0, search.AllDocs, rows.Verifier{})
		for _, h := range hits {
			docs = append(docs, h.Docs...)
		}
		return docs, err
	})
}

// deletedMax is the maximum number of deletions of one record: 10 bytes each.
const deletedMax = 1 << 20

// deleteFound deletes the documents that find returns; find is called with writer.mu held. Readers see the deletion as
// a whole. If there are more documents than fit in one record, a part may be deleted if the process ends before the
// call returns.
func (w *writer) deleteFound(ctx context.Context, find func() ([]rows.DocID, error)) (int, error) {
	if err := w.lock(ctx); err != nil {
		return 0, err
	}
	docs, err := find()
	if err == nil && slices.Contains(docs, rows.NoDoc) {
		err = search.ErrNoDocs
	}
	if err != nil {
		w.mu.Unlock()
		return 0, err
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	written, last := 0, wal.Position(w.logged.Load())
	for list := range slices.Chunk(docs, deletedMax) {
		if last, err = w.write(&change{delete: list}); err != nil {
			break
		}
		written += len(list)
	}
	w.state.apply(&change{delete: docs[:written]})
	w.versions.Commit()
	w.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return len(docs), w.sync(ctx, last)
}
