package engine

import (
	"context"
	"fmt"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
)

// A Hit is a stored fingerprint within the distance of a query.
type Hit struct {
	Fingerprint simhash.Fingerprint
	Distance    int     // distance from the query, in bits
	Documents   uint64  // number of documents with this fingerprint; 0 if QueryOptions.Docs is 0, 1 with [FirstDoc]
	Docs        []DocID // the first of these documents, ascending; at most QueryOptions.Docs
	Offset      uint64  // number of documents of this hit in earlier parts of the answer
	// Similarities are the estimated Jaccard similarities of Docs to the text of the query. A similarity is 0 if the
	// document or the query has no sketch. nil means that all are 0.
	Similarities []float32
}

// QueryOptions configure a query.
type QueryOptions struct {
	K      int           // maximum distance, at most the index's
	Docs   int           // maximum number of documents of each hit; see [AllDocs] and [FirstDoc]
	Sketch sketch.Sketch // sketch of the query's text; without it (zero), the answer is unverified
}

const (
	// AllDocs requests every document of a hit. The fingerprint of an empty page may have millions.
	AllDocs = search.AllDocs
	// FirstDoc requests only the first document of each hit, without counting the others: Hit.Documents is 1.
	FirstDoc = search.FirstDoc
	// NoDoc is the only document of each hit in an index that stores no documents, such as one built with
	// BuildOptions.NoDocs. Its ID is empty.
	NoDoc = DocID(rows.NoDoc)
)

// Query returns the stored fingerprints within distance o.K of q, sorted by distance and then by
// fingerprint. It never waits for inserts. The answer is in memory as a whole; QueryEach bounds that.
func (x *Index) Query(ctx context.Context, q simhash.Fingerprint, o QueryOptions) ([]Hit, error) {
	if err := x.CheckDistance(o.K); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := x.searcher(ctx)
	defer c.Done()
	hits, err := c.Query(q, o.K, o.Docs, x.verifier(o.Sketch))
	return hitsOf(hits), err
}

// verifier returns the verifier for the answer of a query with this sketch.
func (x *Index) verifier(s sketch.Sketch) rows.Verifier {
	if s == (sketch.Sketch{}) {
		return rows.Verifier{}
	}
	return x.live.Config().Verifier([]sketch.Sketch{s})
}

// searcher returns a searcher whose searches end with ctx. The caller calls Done.
func (x *Index) searcher(ctx context.Context) *search.Searcher {
	c := x.live.Searcher()
	c.SetContext(ctx)
	return c
}

// QueryEach is [View.QueryEach] of the index at this moment.
func (x *Index) QueryEach(ctx context.Context, q simhash.Fingerprint, o QueryOptions,
	emit func(hits []Hit) error) error {
	v, err := x.View()
	if err != nil {
		return err
	}
	defer v.Release()
	return v.QueryEach(ctx, q, o, emit)
}

// A View is a snapshot of an index. It does not change until it is released, even if the index changes or
// closes. Until then merged segments and deleted documents keep their memory. It is safe for concurrent use.
type View struct {
	index *Index
	live  version.View
}

// View returns a snapshot of the index. The caller releases it. The error is [ErrClosed].
func (x *Index) View() (View, error) {
	v, err := x.live.View()
	return View{x, v}, err
}

// Release ends the view.
func (v View) Release() { v.live.Release() }

// IDs returns a lookup of the IDs of the view's documents, for one goroutine, until the view is released. It
// knows every document of the view's answers, also those that were deleted later.
func (v View) IDs() IDs { return IDs{v.live.IDs()} }

// List calls yield with the number and the ID of each document of the view in order, from number first on,
// until yield returns false. It reads only IDs.
func (v View) List(ctx context.Context, first DocID, yield func(doc DocID, id string) bool) error {
	return search.List(ctx, v.live, rows.DocID(first), func(doc rows.DocID, id string) bool { return yield(DocID(doc), id) })
}

// QueryEach answers a query in bounded memory. It calls emit with some hits at a time, nearest first. An error of
// emit or ctx ends it. A hit with very many documents is emitted in several calls, each with the next documents.
// Hit.Offset is the number of its documents in earlier calls.
func (v View) QueryEach(ctx context.Context, q simhash.Fingerprint, o QueryOptions,
	emit func(hits []Hit) error) error {
	if err := v.index.CheckDistance(o.K); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c := v.index.searcher(ctx)
	defer c.Done()
	return c.Stream(v.live, q, v.index.verifier(o.Sketch), o.K, o.Docs, func(hits []search.Hit) error {
		return emit(hitsOf(hits))
	})
}

// A DistanceError refuses a query for distance K, because the index was built for distances up to Max. It is
// [ErrDistance].
type DistanceError struct{ K, Max int }

// Error names the distance and the index's maximum.
func (e *DistanceError) Error() string {
	return fmt.Sprintf("k = %d, but the index was built for k from 0 to %d", e.K, e.Max)
}

// Is reports whether target is [ErrDistance].
func (e *DistanceError) Is(target error) bool { return target == ErrDistance }

func checkDistance(k, limit int) error {
	if k < 0 || k > limit {
		return &DistanceError{k, limit}
	}
	return nil
}

// CheckDistance returns an error that wraps [ErrDistance] if the index does not answer queries for
// distance k.
func (x *Index) CheckDistance(k int) error { return checkDistance(k, x.Design().K) }

// DocumentRecipe returns the recipe of the index, or [ErrNoRecipe] if it was built from fingerprints without a
// recipe.
func (x *Index) DocumentRecipe() (*simhash.Recipe, error) {
	if r := x.Recipe(); r != nil {
		return r, nil
	}
	return nil, ErrNoRecipe
}
