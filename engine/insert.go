package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/sketch"
	"ndd/engine/index/live/rows"
)

// A Doc is a document to insert.
type Doc struct {
	Fingerprint simhash.Fingerprint // 0 is a fingerprint like others
	ID          string              // required, unless the index was made with NoIDs, which keeps none
	Sketch      sketch.Sketch       // of its text; zero where it is not known, and where the index keeps no sketches

	TTL        time.Duration // how long it is kept, to the second above; 0 is as the index has it; see [Forever]
	OnConflict OnConflict    // what becomes of it when its ID is taken; 0 is as the index has it
}

// OnConflict says what becomes of a document whose ID another document has.
type OnConflict int

// What may become of it.
const (
	Replace = OnConflict(rows.Replace) // it takes the other's place, which is deleted
	Keep    = OnConflict(rows.Keep)    // it is not inserted
	Refuse  = OnConflict(rows.Refuse)  // the call fails with [ErrConflict] and inserts nothing
)

// Forever is the time to live of a document that never expires, whatever the index's own is.
const Forever = rows.Forever

// An Outcome says what became of a document that was to be inserted. Where it was not and nothing
// near kept it out, a document of its ID did, which is Doc.
type Outcome struct {
	Inserted bool
	Before   bool   // by an earlier call, with the same content: nothing has changed now
	Replaced bool   // it took the place of a document of its ID
	Doc      DocID  // number of the document that was inserted
	Near     []Hit  // what kept it out, nearest first
	ID       string // of the first document of the nearest, where documents have IDs
}

// ErrNoID is wrapped where a document without an ID is to be inserted into an index that keeps IDs.
var ErrNoID = errors.New("a document needs an ID in an index that keeps IDs")

// named returns an error that wraps [ErrNoID] if one of the documents needs an ID and has none.
func (x *Index) named(docs []Doc) error {
	if !x.live.Config().IDs {
		return nil
	}
	for i := range docs {
		if docs[i].ID == "" {
			return fmt.Errorf("document %d of %d: %w", i, len(docs), ErrNoID)
		}
	}
	return nil
}

// Insert adds documents, all or none, and returns what became of each: those that are inserted have
// consecutive numbers in their order. They are found by every query that begins after Insert has
// returned; in an index that is open for writing they are durable then. It may wait for room and for
// the disk, as long as ctx lasts.
func (x *Index) Insert(ctx context.Context, docs ...Doc) ([]Outcome, error) {
	if err := x.named(docs); err != nil {
		return nil, err
	}
	out, err := x.live.Insert(ctx, inner(docs))
	return outcomes(out), err
}

// CheckAndInsert adds each document, in order, unless one within distance o.K of it is stored
// already. Its outcome lists those: nearest first, each hit with the first o.Docs of its documents. Of two
// near-duplicates that arrive together exactly one is added. It may wait for room, as long as ctx
// lasts. After an error, it returns the outcomes of the first documents, which were decided upon and are durable.
//
// A call may be repeated. If the document with the ID of one has the same content, nothing changes, and
// the outcome is that of its insert, with Before set. The content is the same if the fingerprints are
// equal and, where both documents have sketches, those, too. A document
// with other content is compared with all documents, also with the one that has its ID; if it is near
// none, its OnConflict decides.
func (x *Index) CheckAndInsert(ctx context.Context, o QueryOptions, docs ...Doc) ([]Outcome, error) {
	if err := x.CheckDistance(o.K); err != nil {
		return nil, err
	}
	if err := x.named(docs); err != nil {
		return nil, err
	}
	out, err := x.live.CheckAndInsert(ctx, inner(docs), o.K, o.Docs)
	return outcomes(out), err
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
func (x *Index) Find(id string) (doc DocID, ok bool, err error) {
	at, ok, err := x.live.Find(id)
	return DocID(at), ok, err
}
