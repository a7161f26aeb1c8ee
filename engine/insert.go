package engine

import (
	"context"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/index/live/rows"
)

// A Doc is a document to insert: its fingerprint and,
// unless the index keeps none, its ID.
type Doc = rows.Doc

// An Outcome is the result of inserting a document: whether it was inserted, under which
// number, and what kept it out.
type Outcome = live.Outcome

// Insert adds documents, all or none, and returns what became of each: those that are inserted have
// consecutive numbers in their order. They are found by every query that begins after Insert has
// returned; in an index that is open for writing they are durable then. It may wait for room and for
// the disk, as long as ctx lasts.
func (x *Index) Insert(ctx context.Context, docs ...Doc) ([]Outcome, error) {
	return x.live.Insert(ctx, docs)
}

// CheckAndInsert adds d unless something within distance k of it is there already, which the
// outcome has then: nearest first, each hit with the first docs of its documents. Of two
// near-duplicates that arrive together exactly one is added. It may wait for room, as long as ctx
// lasts.
//
// A call may be repeated. If the document with the ID of d has the same content, nothing changes, and
// the outcome is that of its insert, with Before set. The content is the same if the fingerprints are
// equal and, where the index keeps the lengths of texts and both are known, those, too. A document
// with other content is compared with all documents, also with the one that has its ID; if it is near
// none, d.OnConflict decides.
func (x *Index) CheckAndInsert(ctx context.Context, d Doc, k, docs int) (Outcome, error) {
	all, err := x.CheckAndInsertAll(ctx, []Doc{d}, k, docs)
	if err != nil {
		return Outcome{}, err
	}
	return all[0], nil
}

// CheckAndInsertAll is [Index.CheckAndInsert] for each of list, one after the other, with an outcome
// for each in order: a document near one that was added before is not added. After an error, it returns
// the outcomes of the first documents, which were decided upon and are durable.
func (x *Index) CheckAndInsertAll(ctx context.Context, list []Doc, k, docs int) ([]Outcome, error) {
	if err := x.CheckDistance(k); err != nil {
		return nil, err
	}
	return x.live.CheckAndInsert(ctx, list, k, docs)
}

// Delete deletes the documents that have these IDs and returns how many there were. Queries that
// begin after it has returned do not find them, and every query finds all of them or none.
func (x *Index) Delete(ctx context.Context, ids ...string) (int, error) {
	return x.live.Delete(ctx, ids...)
}

// DeletePrefix deletes the documents whose IDs begin with a prefix and returns how many there were.
func (x *Index) DeletePrefix(ctx context.Context, prefix string) (int, error) {
	return x.live.DeletePrefix(ctx, prefix)
}

// DeleteFingerprint deletes the documents that have exactly this fingerprint and returns how many there were.
func (x *Index) DeleteFingerprint(ctx context.Context, f simhash.Fingerprint) (int, error) {
	return x.live.DeleteFingerprint(ctx, f)
}

// Find returns the document that has an ID; ok is false when none has.
func (x *Index) Find(id string) (doc DocID, ok bool, err error) { return x.live.Find(id) }
