package engine

import (
	"context"
	"fmt"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/index/live/version"
	"ndd/permute"
)

// A Hit is a stored fingerprint within the distance asked for: its distance, how many documents
// have it, and the first of them, ascending.
type Hit = search.Hit

// Query returns the stored fingerprints within distance k of q, nearest first, equal distances by
// fingerprint, each with the first docs of its documents. It never waits for inserts. It holds all
// of that in memory, as much as there is: QueryEach does not.
func (x *Index) Query(ctx context.Context, q simhash.Fingerprint, k, docs int) ([]Hit, error) {
	if err := x.CheckDistance(k); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := x.searcher(ctx)
	defer c.Done()
	return c.Query(q, k, docs)
}

// searcher returns a searcher whose searches ctx ends, to be given back.
func (x *Index) searcher(ctx context.Context) *search.Searcher {
	c := x.live.Searcher()
	c.Until(ctx)
	return c
}

// QueryEach is [View.QueryEach] of the index as it is now.
func (x *Index) QueryEach(ctx context.Context, q simhash.Fingerprint, textBytes uint32, k, docs int,
	emit func(hits []Hit) error) error {
	v, err := x.View()
	if err != nil {
		return err
	}
	defer v.Release()
	return v.QueryEach(ctx, q, textBytes, k, docs, emit)
}

// A View is a snapshot of an index. It stays as it is, however the index changes or closes
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
func (v View) IDs() *version.IDs { return v.live.IDs() }

// List calls yield with the number and the ID of each document of the view, from number first on
// and in order, until yield returns false. It reads nothing but IDs.
func (v View) List(ctx context.Context, first DocID, yield func(doc DocID, id string) bool) error {
	return search.List(ctx, v.live, first, yield)
}

// QueryEach answers the query for the fingerprint of a text of textBytes bytes, 0 if that is not
// known. It calls emit with some hits at a time, nearest first, until all were emitted or emit or
// ctx ends it with an error. A hit with very many documents comes in several calls, each with its
// next documents; Hit.Before counts those before. It takes at most [search.QueryBytes] of memory.
func (v View) QueryEach(ctx context.Context, q simhash.Fingerprint, textBytes uint32, k, docs int,
	emit func(hits []Hit) error) error {
	if err := v.index.CheckDistance(k); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c := v.index.searcher(ctx)
	defer c.Done()
	lengths := rows.Lengths{Ratio: v.index.live.Config().MaxLengthRatio, Of: []uint32{textBytes}}
	return c.Stream(v.live, q, lengths, k, docs, emit)
}

// A distanceError refuses a query for distance k in an index that was built for distances up to
// most. It is [ErrDistance].
type distanceError struct{ k, most int }

func (e *distanceError) Error() string {
	text := fmt.Sprintf("k = %d, but the index was built for k from 0 to %d", e.k, e.most)
	if e.k > e.most && e.k <= permute.MaxK {
		text += fmt.Sprintf("; 'ndd export INDEX -o all.ndf' and 'ndd build -k %d -o NEW all.ndf' make one for it", e.k)
	}
	return text
}

func (e *distanceError) Is(target error) bool { return target == ErrDistance }

func checkDistance(k, most int) error {
	if k < 0 || k > most {
		return &distanceError{k, most}
	}
	return nil
}

// CheckDistance returns an error that wraps [ErrDistance] if the index does not answer queries for
// distance k.
func (x *Index) CheckDistance(k int) error { return checkDistance(k, x.Design().K) }

// DocumentRecipe returns the recipe of the index, or an error that wraps [ErrMixed] if it was built
// of fingerprints without a recipe and so has none for documents.
func (x *Index) DocumentRecipe() (*simhash.Recipe, error) {
	if r := x.Recipe(); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%w: the index was built from raw fingerprints, so it has no recipe for documents; 'ndd "+
		"build --recipe NAME' with the same files makes one that has", ErrMixed)
}
