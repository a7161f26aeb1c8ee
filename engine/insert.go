package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
)

// A Doc is a document to insert.
type Doc struct {
	Fingerprint simhash.Fingerprint // 0 is a fingerprint like others
	ID          string              // required, unless the index was made with NoIDs, which keeps none
	Sketch      sketch.Sketch       // sketch of its text; zero if it is unknown or the index keeps no sketches

	TTL        time.Duration // time to live, rounded up to seconds; 0 is the index's; see [Forever]
	OnConflict OnConflict    // treatment of a taken ID; 0 is the index's default
}

// OnConflict says what happens to a new document whose ID is taken.
type OnConflict int

// The values of OnConflict.
const (
	Replace = OnConflict(rows.Replace) // the stored document is deleted, and the new one is inserted
	Keep    = OnConflict(rows.Keep)    // the stored document remains, and the new one is not inserted
	Refuse  = OnConflict(rows.Refuse)  // the call fails with [ErrConflict] and inserts nothing
)

// Forever is the time to live of a document that never expires. It overrides the index's time to live.
const Forever = rows.Forever

// An Outcome is the result of inserting one document. If it was not inserted, Near has the stored documents near it, or
// Doc is the document with the same ID.
type Outcome struct {
	Inserted bool
	Repeated bool   // an earlier call inserted it with the same content; this call changed nothing
	Replaced bool   // it replaced a document with its ID
	Doc      DocID  // number of the inserted document, or of the stored document with its ID
	Near     []Hit  // near fingerprints that are stored, nearest first
	ID       string // ID of the first document of the nearest hit, if documents have IDs
}

// ErrNoID is wrapped by the error for a document without an ID, if the index keeps IDs.
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

// Insert adds all documents or none, and returns an outcome for each. Inserted documents get consecutive
// numbers in their order. Queries that begin after Insert has returned find them. In an index that is open
// for writing they are then durable. Insert may wait for memory and for the disk, until ctx ends.
func (x *Index) Insert(ctx context.Context, docs ...Doc) ([]Outcome, error) {
	if err := x.named(docs); err != nil {
		return nil, err
	}
	out, err := x.live.Insert(ctx, inner(docs))
	return outcomes(out), err
}

// CheckAndInsert adds each document, in order, unless a near-duplicate is stored: a document within
// distance o.K whose sketch confirms the similarity. The outcome then lists the near-duplicates, nearest first,
// each hit with its first o.Docs documents. If two near-duplicates arrive at the same time, exactly one is
// added. CheckAndInsert may wait for memory, until ctx ends. With an error it returns the outcomes of the first
// documents, which are decided and durable.
//
// A call may be repeated. If the stored document with the same ID has the same content, nothing changes: the
// outcome is the first one again, with Repeated set. The content is the same if the fingerprints are equal, and the
// sketches if both documents have one. A document with other content is compared with all documents, including
// the one with its ID. If it is near none, its OnConflict decides.
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

// Delete deletes the documents with these IDs and returns their number. Queries that begin after it has
// returned do not find them. Every query finds all of them or none.
func (x *Index) Delete(ctx context.Context, ids ...string) (int, error) {
	return x.live.Delete(ctx, ids...)
}

// DeletePrefix deletes the documents whose IDs begin with a prefix, and returns their number.
func (x *Index) DeletePrefix(ctx context.Context, prefix string) (int, error) {
	return x.live.DeletePrefix(ctx, prefix)
}

// DeleteFingerprint deletes the documents with exactly this fingerprint, and returns their number.
func (x *Index) DeleteFingerprint(ctx context.Context, f simhash.Fingerprint) (int, error) {
	return x.live.DeleteFingerprint(ctx, f)
}

// Find returns the document with an ID. ok is false if there is none.
func (x *Index) Find(id string) (doc DocID, ok bool, err error) {
	i, ok, err := x.live.Find(id)
	return DocID(i), ok, err
}
