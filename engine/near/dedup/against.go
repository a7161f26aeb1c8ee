package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/near/shingle"
)

// errNoTexts says why what is known cannot be verified.
var errNoTexts = errors.New("verifying needs the texts of the known documents: give their inputs")

// verifyKnown looks up the texts of what known documents are near, and lets those stay whose own are not alike. It
// returns rest with these rows.
//
//	new documents that are known --read again--> shingle sets --.
//	inputs of the old documents --those that are named--> sets --compare--> similarity, or none has that ID
func (r *Result) verifyKnown(ctx context.Context, v *Verify, threads int, rest []uint32) (_ []uint32, err error) {
	if len(r.Known) == 0 {
		return rest, nil
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	a := &against{corpus: r.corpus, v: v, wanted: map[string][]int{}, shares: make([]atomic.Uint64, len(r.Known))}
	rows := make([]uint32, len(r.Known))
	for i, k := range r.Known {
		rows[i] = k.Row
		a.wanted[k.ID] = append(a.wanted[k.ID], i)
	}
	a.sets = shingle.NewSets(len(rows), v.memory(), v.TempDir, v.Disk)
	defer func() { err = cmp.Or(err, a.sets.Close()) }()
	if err := r.corpus.shingle(ctx, v, a.sets, rows, threads); err != nil {
		return nil, err
	}
	if err := a.read(ctx, threads); err != nil {
		return nil, err
	}

	alike, missing, example := r.Known[:0], 0, ""
	for i, k := range r.Known {
		share, seen := a.share(i)
		if !seen {
			if missing++; missing == 1 {
				example = k.ID
			}
		}
		if k.Similarity = float32(share); share >= v.Jaccard {
			alike = append(alike, k)
		} else {
			rest = append(rest, k.Row)
			r.Rejected++
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("%d of %d documents are near known documents without texts, such as %s: give all inputs of the known documents, under the names that they had",
			missing, len(rows), example)
	}
	r.Known = alike
	slices.Sort(rest)
	return rest, nil
}

// against compares known documents with what they are near.
type against struct {
	corpus *Corpus
	v      *Verify
	wanted map[string][]int // indexes in Result.Known, by the ID of the old document
	sets   *shingle.Sets    // of the new documents, by these indexes
	shares []atomic.Uint64  // 0 if the old document has not been seen, else 1 and the bits of the similarity
}

// share returns the similarity of a known document and the old one, and whether the latter was there.
func (a *against) share(i int) (share float64, seen bool) {
	s := a.shares[i].Load()
	return math.Float64frombits(max(s, 1) - 1), s > 0
}

// raise makes a similarity at least share: where several documents have one id, the most alike counts.
func (a *against) raise(i int, share float64) {
	s := math.Float64bits(share) + 1 // ordered, since it is not negative
	for old := a.shares[i].Load(); old < s && !a.shares[i].CompareAndSwap(old, s); {
		old = a.shares[i].Load()
	}
}

// read reads the old documents and compares those that are wanted with those that are near them.
func (a *against) read(ctx context.Context, threads int) error {
	_, err := ingest.Extract(ctx, a.v.Known, a.corpus.again(a.v, threads), ingest.Steps[struct{}]{
		Worker: func() (func(int, *document.Document) (struct{}, error), error) {
			shingler, err := shingle.New(a.v.Shingles)
			var set, own, buf []uint64
			return func(_ int, doc *document.Document) (none struct{}, err error) {
				near := a.wanted[doc.ID]
				if len(near) == 0 {
					return none, nil
				}
				set = shingler.Append(set[:0], doc.Text)
				for _, i := range near {
					if own, buf, err = a.sets.Get(i, buf); err != nil {
						return none, err
					}
					a.raise(i, shingle.Jaccard(own, set))
				}
				return none, nil
			}, err
		},
	})
	return err
}
