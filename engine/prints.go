package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ndd/engine/corpus/simhash"
)

// An index whose recipe makes two fingerprints of a document has two rows for each, one after the other:
//
//	row        0        1        2        3
//	           first    second   first    second
//	document   0        0        2        2          a document's number is that of its first row
//	ID         "a"      ""       "b"      ""
//
// Its tables hold both kinds together. A query has two fingerprints as well, and its first one is compared with first ones, its
// second one with second ones: what a table finds of the other kind is left out here. A document is near when either is, and is
// named once, with the nearer one.

// PrintsEach returns how many fingerprints each document of the index has, and each query: 1 or 2.
func (x *Index) PrintsEach() int { return x.Recipe().PrintsEach() }

// wantPrints refuses queries of another number of fingerprints than documents have.
func (x *Index) wantPrints(n int) error {
	if each := x.PrintsEach(); n != each {
		return fmt.Errorf("%w: a query has %d fingerprints, and the documents of the index have %d each", ErrMixed, n, each)
	}
	return nil
}

// joined is what the two fingerprints of a query have found.
type joined struct{ all []Hit }

// add adds the hits of the first (0) or the second (1) fingerprint, without the documents that it met with their other one.
func (j *joined) add(which int, hits []Hit) {
	for _, h := range hits {
		docs := make([]DocID, 0, len(h.Docs)/2+1)
		for _, row := range h.Docs {
			if int(row&1) == which {
				docs = append(docs, row&^1)
			}
		}
		if h.Docs = docs; len(docs) > 0 {
			j.all = append(j.all, h)
		}
	}
}

// hits returns all of them, nearest first, each document once, and the first most documents of each.
func (j *joined) hits(most int) (list []Hit) {
	slices.SortStableFunc(j.all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	seen := map[DocID]bool{}
	for _, h := range j.all {
		if last := len(list) - 1; last < 0 || list[last].Fingerprint != h.Fingerprint {
			list = append(list, Hit{Fingerprint: h.Fingerprint, Distance: h.Distance})
		}
		to := &list[len(list)-1]
		for _, doc := range h.Docs {
			if !seen[doc] {
				seen[doc] = true
				to.Docs = append(to.Docs, doc)
			}
		}
	}
	list = slices.DeleteFunc(list, func(h Hit) bool { return len(h.Docs) == 0 })
	for i := range list {
		h := &list[i]
		slices.Sort(h.Docs)
		h.Documents = uint64(len(h.Docs))
		h.Docs = h.Docs[:min(max(most, 0), len(h.Docs))]
	}
	return list
}

// joinBatch has a batch answered whose queries have two fingerprints each, one after the other: emit is called with the number of
// the query, not that of the fingerprint.
func (v View) joinBatch(ctx context.Context, prints []simhash.Fingerprint, o BatchOptions, emit func(query int, hits []Hit) error) error {
	if len(prints)%2 != 0 {
		return v.index.wantPrints(1)
	}
	most := o.Docs
	o.Docs = AllDocs
	if o.TextBytes != nil {
		twice := make([]uint32, 0, len(prints))
		for _, n := range o.TextBytes {
			twice = append(twice, n, n)
		}
		o.TextBytes = twice
	}
	var j joined
	last := -1
	flush := func() error {
		hits := j.hits(most)
		j = joined{}
		if len(hits) == 0 {
			return nil
		}
		return emit(last, hits)
	}
	err := v.batchRows(ctx, prints, o, func(row int, hits []Hit) error {
		if row/2 != last {
			if err := flush(); err != nil {
				return err
			}
			last = row / 2
		}
		j.add(row%2, hits)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}
