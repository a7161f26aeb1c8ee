package engine

import (
	"context"
	"fmt"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
)

// PrintsEach returns how many fingerprints each document of the index has, and each query: 1 or 2.
func (x *Index) PrintsEach() int { return x.Recipe().PrintsEach() }

// wantPrints refuses queries of another number of fingerprints than documents have.
func (x *Index) wantPrints(n int) error {
	if each := x.PrintsEach(); n != each {
		return fmt.Errorf("%w: a query has %d fingerprints, and the documents of the index have %d each", ErrMixed, n, each)
	}
	return nil
}

// joinBatch has a batch answered whose queries have two fingerprints each, one after the other: emit is called with the number of
// the query, not that of the fingerprint.
func (v View) joinBatch(ctx context.Context, prints []simhash.Fingerprint, o BatchOptions, emit func(query int, hits []Hit) error) error {
	if len(prints)%2 != 0 {
		return v.index.wantPrints(1)
	}
	most := o.Docs
	if most == FirstDoc {
		most = 1
	}
	o.Docs = AllDocs
	if o.TextBytes != nil {
		twice := make([]uint32, 0, len(prints))
		for _, n := range o.TextBytes {
			twice = append(twice, n, n)
		}
		o.TextBytes = twice
	}
	j := live.Joined{Most: most, Emit: emit}
	if err := v.batchRows(ctx, prints, o, j.Add); err != nil {
		return err
	}
	return j.End()
}
