package engine

import (
	"context"

	"ndd/engine/index/live"
)

// A Doc is a document to insert: its fingerprint and, unless the index keeps none, its ID.
type Doc = live.Doc

// An Outcome says what became of a document that was to be inserted: whether it was, under which
// number, and what kept it out.
type Outcome = live.Outcome

// Insert adds documents, all or none, under consecutive numbers in their order, and returns what
// became of each. They are found by every query that begins after Insert has returned. It may wait
// for room, as long as ctx lasts.
func (x *Index) Insert(ctx context.Context, docs ...Doc) ([]Outcome, error) {
	return x.live.Insert(ctx, docs)
}

// CheckAndInsert adds d unless something within distance k of it is there already, which the
// outcome has then: nearest first, each hit with the first docs of its documents. Of two
// near-duplicates that arrive together exactly one is added. It may wait for room, as long as ctx
// lasts.
func (x *Index) CheckAndInsert(ctx context.Context, d Doc, k, docs int) (Outcome, error) {
	all, err := x.CheckAndInsertAll(ctx, []Doc{d}, k, docs)
	if err != nil {
		return Outcome{}, err
	}
	return all[0], nil
}

// CheckAndInsertAll is [Index.CheckAndInsert] for each of list, one after the other, with an outcome
// for each in order: what is near one that was added before it is not. After an error, it returns
// the outcomes of those that were decided upon.
func (x *Index) CheckAndInsertAll(ctx context.Context, list []Doc, k, docs int) ([]Outcome, error) {
	if err := x.checkK(k); err != nil {
		return nil, err
	}
	return x.live.CheckAndInsert(ctx, list, k, docs)
}
