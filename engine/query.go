package engine

import (
	"context"
	"fmt"

	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/sketch"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/index/live/version"
)

// A Hit is a stored fingerprint within the distance that was asked for.
type Hit struct {
	Fingerprint simhash.Fingerprint
	Distance    int     // from the query, in bits
	Documents   uint64  // how many have this fingerprint; 0 where they were not asked for, 1 with [FirstDoc]
	Docs        []DocID // the first of them, ascending, as many as were asked for
	Before      uint64  // of an answer in pieces: how many documents the pieces before this one had
	// Similarities are the estimated Jaccard similarities of Docs to the query's text, 0 where one of both has
	// no sketch; nil where all are so.
	Similarities []float32
}

// QueryOptions say what a query asks for.
type QueryOptions struct {
	K      int           // largest distance, at most the index's
	Docs   int           // how many documents of each hit to look up; see [AllDocs] and [FirstDoc]
	Sketch sketch.Sketch // of the query's text; the zero sketch leaves the answer unverified
}

const (
	// AllDocs asks for every document of a hit. An empty page's fingerprint may have millions.
	AllDocs = search.AllDocs
	// FirstDoc asks for the first document of each hit alone, and for no count of the others: Hit.Documents is 1.
	FirstDoc = search.FirstDoc
	// NoDoc is the document of a hit in an index that keeps no documents, such as one built with
	// BuildOptions.NoDocs: it has it once. Its ID is empty.
	NoDoc = DocID(rows.NoDoc)
)

// Query returns the stored fingerprints within distance o.K of q, nearest first, equal distances by
// fingerprint. It never waits for inserts. It holds all
// of that in memory, as much as there is: QueryEach does not.
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

// verifier returns what verifies the answer of a query with this sketch.
func (x *Index) verifier(s sketch.Sketch) rows.Verifier {
	if s == (sketch.Sketch{}) {
		return rows.Verifier{}
	}
	return x.live.Config().Verifier([]sketch.Sketch{s})
}

// searcher returns a searcher whose searches ctx ends, to be given back.
func (x *Index) searcher(ctx context.Context) *search.Searcher {
	c := x.live.Searcher()
	c.Until(ctx)
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

// A View is a snapshot of an index. It does not change, however the index changes or closes
// meanwhile, until it is released; until then merged segments and deleted documents keep their
// memory. It may be used by many goroutines.
type View struct {
	index *Index
	live  version.View
}

// View returns what the index holds now, to be released. The error is [ErrClosed].
func (x *Index) View() (View, error) {
	v, err := x.live.View()
	return View{x, v}, err
}

// Release ends the view.
func (v View) Release() { v.live.Release() }

// IDs returns a look-up of the IDs of the view's documents, for one goroutine, until the view is
// released. It knows every document that an answer of the view has, also where it was deleted
// since.
func (v View) IDs() IDs { return IDs{v.live.IDs()} }

// List calls yield with the number and the ID of each document of the view, from number first on
// and in order, until yield returns false. It reads nothing but IDs.
func (v View) List(ctx context.Context, first DocID, yield func(doc DocID, id string) bool) error {
	return search.List(ctx, v.live, rows.DocID(first), func(doc rows.DocID, id string) bool { return yield(DocID(doc), id) })
}

// QueryEach answers a query. It calls emit with some hits at a time, nearest first, until all were emitted or emit or
// ctx ends it with an error. A hit with very many documents comes in several calls, each with its
// next documents; Hit.Before counts those before. The memory that it takes is bounded.
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

// A DistanceError refuses a query for distance K in an index that was built for distances up to
// Most. It is [ErrDistance].
type DistanceError struct{ K, Most int }

// Error says which distances there are.
func (e *DistanceError) Error() string {
	return fmt.Sprintf("k = %d, but the index was built for k from 0 to %d", e.K, e.Most)
}

// Is reports whether target is [ErrDistance].
func (e *DistanceError) Is(target error) bool { return target == ErrDistance }

func checkDistance(k, most int) error {
	if k < 0 || k > most {
		return &DistanceError{k, most}
	}
	return nil
}

// CheckDistance returns an error that wraps [ErrDistance] if the index does not answer queries for
// distance k.
func (x *Index) CheckDistance(k int) error { return checkDistance(k, x.Design().K) }

// DocumentRecipe returns the recipe of the index, or [ErrNoRecipe] if it was built
// of fingerprints without a recipe and so has none for documents.
func (x *Index) DocumentRecipe() (*simhash.Recipe, error) {
	if r := x.Recipe(); r != nil {
		return r, nil
	}
	return nil, ErrNoRecipe
}
