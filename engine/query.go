package engine

import (
	"context"
	"fmt"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
)

// A Hit is a stored fingerprint within the distance asked for: its distance, how many documents
// have it, and the first of them, ascending.
type Hit = live.Hit

// Query returns the stored fingerprints within distance k of q, nearest first, equal distances by
// fingerprint, each with the first docs of its documents. It never waits for inserts. It holds all of that
// in memory, as much as there is: QueryPrints does not.
func (x *Index) Query(ctx context.Context, q simhash.Fingerprint, k, docs int) ([]Hit, error) {
	return x.QueryText(ctx, q, 0, k, docs)
}

// QueryText is Query for the fingerprint of a text of so many bytes: an index that was opened with a MaxLengthRatio leaves out
// documents whose texts are longer or shorter by more than that. 0 bytes are not known, and leave out none.
func (x *Index) QueryText(ctx context.Context, q simhash.Fingerprint, textBytes uint32, k, docs int) ([]Hit, error) {
	if err := x.wantPrints(1); err != nil {
		return nil, err
	}
	if err := x.checkK(k); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := x.live.Searcher()
	c.Until(ctx)
	defer c.Done()
	return c.Query(q, textBytes, k, docs)
}

// QueryPrints is [View.QueryPrints] of what the index holds now.
func (x *Index) QueryPrints(ctx context.Context, prints []simhash.Fingerprint, textBytes uint32, k, docs int, emit func(hits []Hit) error) error {
	v, err := x.View()
	if err != nil {
		return err
	}
	defer v.Release()
	return v.QueryPrints(ctx, prints, textBytes, k, docs, emit)
}

// A View is what an index holds at one moment. It stays as it is, however the index changes or closes
// meanwhile, until it is released; until then merged segments and deleted documents keep their memory. It
// may be used by many goroutines.
type View struct {
	index *Index
	live  live.View
}

// View returns what the index holds now, to be released. The error is [ErrClosed].
func (x *Index) View() (View, error) {
	v, err := x.live.View()
	return View{x, v}, err
}

// Release ends the view.
func (v View) Release() { v.live.Release() }

// IDs returns a look-up of the IDs of the view's documents, for one goroutine, until the view is released. It knows
// every document that an answer of the view has, also where it was deleted since.
func (v View) IDs() *live.IDs { return v.live.IDs() }

// QueryPrints finds what is near a text of so many bytes, 0 where that is not known, by its fingerprints, [Index.PrintsEach] of
// them, and calls emit with some hits at a time, nearest first, however many there are. A hit with very many documents comes in
// several calls, with other documents of its in each, which Hit.Before counts. It takes [live.QueryBytes] of memory at most. Of two
// fingerprints the hits come in one call, and are in memory together, with all their documents, however few are asked for. An
// error of emit, or of ctx, ends it.
func (v View) QueryPrints(ctx context.Context, prints []simhash.Fingerprint, textBytes uint32, k, docs int, emit func(hits []Hit) error) error {
	if err := v.index.wantPrints(len(prints)); err != nil {
		return err
	}
	if len(prints) == 1 {
		return v.query(ctx, prints[0], textBytes, k, docs, emit)
	}
	j := live.Joined{Most: docs, Emit: func(_ int, hits []Hit) error { return emit(hits) }}
	for i, f := range prints {
		if err := v.query(ctx, f, textBytes, k, AllDocs, func(hits []Hit) error { return j.Add(i, hits) }); err != nil {
			return err
		}
	}
	return j.End()
}

// DocumentsOf calls emit with the documents that have exactly this fingerprint, as QueryPrints does: as their first one, or, where
// documents have two and which is 1, as their second.
func (x *Index) DocumentsOf(ctx context.Context, f simhash.Fingerprint, which int, textBytes uint32, emit func(hits []Hit) error) error {
	v, err := x.View()
	if err != nil {
		return err
	}
	defer v.Release()
	if x.PrintsEach() == 1 {
		return v.query(ctx, f, textBytes, 0, AllDocs, emit)
	}
	j := live.Joined{Most: AllDocs, Emit: func(_ int, hits []Hit) error { return emit(hits) }}
	if err := v.query(ctx, f, textBytes, 0, AllDocs, func(hits []Hit) error { return j.Add(which, hits) }); err != nil {
		return err
	}
	return j.End()
}

// query answers one fingerprint, by rows.
func (v View) query(ctx context.Context, q simhash.Fingerprint, textBytes uint32, k, docs int, emit func(hits []Hit) error) error {
	if err := v.index.checkK(k); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c := v.index.live.Searcher()
	c.Until(ctx)
	defer c.Done()
	lengths := live.Lengths{Ratio: v.index.live.Config().MaxLengthRatio, Of: []uint32{textBytes}}
	return c.Stream(v.live, q, lengths, k, docs, emit)
}

// Walk calls yield with all distinct fingerprints of the index, some at a time, until it returns
// false or ctx ends; one that was inserted again may come again.
func (x *Index) Walk(ctx context.Context, yield func([]simhash.Fingerprint) bool) error {
	w, err := x.live.View()
	if err != nil {
		return err
	}
	defer w.Release()
	return w.Walk(ctx, func(words []uint64) bool { return yield(simhash.Fingerprints(words)) })
}

// distanceError refuses a query for a distance that the index was not made for.
type distanceError struct{ k, most int }

func (e *distanceError) Error() string {
	return fmt.Sprintf("k = %d, but the index was built for k up to %d", e.k, e.most)
}

func (e *distanceError) Is(target error) bool { return target == ErrDistance }

func checkDistance(k, most int) error {
	if k < 0 || k > most {
		return &distanceError{k, most}
	}
	return nil
}

func (x *Index) checkK(k int) error { return checkDistance(k, x.Design().K) }
