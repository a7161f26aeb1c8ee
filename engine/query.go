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

// AllDocs asks for every document of a hit. An empty page's fingerprint may have millions.
const AllDocs = live.AllDocs

// Query returns the stored fingerprints within distance k of q, nearest first, equal distances by
// fingerprint, each with the first docs of its documents. It never waits for inserts.
func (x *Index) Query(ctx context.Context, q simhash.Fingerprint, k, docs int) ([]Hit, error) {
	return x.QueryText(ctx, q, 0, k, docs)
}

// QueryText is Query for the fingerprint of a text of so many bytes: an index that was opened with a MaxLengthRatio leaves out
// documents whose texts are longer or shorter by more than that. 0 bytes are not known, and leave out none.
func (x *Index) QueryText(ctx context.Context, q simhash.Fingerprint, textBytes uint32, k, docs int) ([]Hit, error) {
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

// A DistanceError refuses a query for a distance that the index was not made for.
type DistanceError struct{ K, Max int }

func (e *DistanceError) Error() string {
	return fmt.Sprintf("k = %d, but the index was built for k up to %d", e.K, e.Max)
}

func checkDistance(k, most int) error {
	if k < 0 || k > most {
		return &DistanceError{k, most}
	}
	return nil
}

func (x *Index) checkK(k int) error { return checkDistance(k, x.Design().K) }
