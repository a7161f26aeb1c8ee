package eval

import (
	"context"

	"ndd/engine/near/shingle"
)

// Thresholds are the least similarities that a method of signatures is measured at, in the place of
// the distances k from 0 to [MaxK] of fingerprints: from the strictest to the loosest.
var Thresholds = [MaxK + 1]float64{1, 0.95, 0.9, 0.8, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4}

// A Signing tells near-duplicates by the signatures that texts share rather than by fingerprints.
type Signing struct {
	// Worker returns a function that makes the set of a text, ascending and without repetitions;
	// nil says that the text has too few signatures. It is called once for each goroutine.
	Worker func() (func(text string) []uint64, error)

	// Threshold is the least similarity of a pair that the method reports by default.
	Threshold float64

	// Similarity returns the similarity, 0 to 1, of two sets by their sizes and the number of
	// signatures that they share.
	Similarity func(sizeA, sizeB, shared int) float64
}

// signatures are the sets of a corpus. As a finder they have levels, which are indexes of
// [Thresholds], in the place of distances.
type signatures struct {
	signing *Signing
	sets    [][]uint64
}

// sign makes the sets of the corpus.
func (c *Corpus) sign(ctx context.Context, s *Signing, threads int) (*signatures, error) {
	x := &signatures{s, make([][]uint64, c.Len())}
	return x, each(ctx, threads, c.Len(), func() (func(int), error) {
		sign, err := s.Worker()
		return func(i int) { x.sets[i] = sign(c.texts[i]) }, err
	})
}

// level returns the first threshold that sets of these sizes reach, more than MaxK where there is
// none.
func (x *signatures) level(sizeA, sizeB, shared int) int {
	s := x.signing.Similarity(sizeA, sizeB, shared)
	for i, t := range Thresholds {
		if s >= t {
			return i
		}
	}
	return MaxK + 1
}

func (x *signatures) has(row uint32) bool { return x.sets[row] != nil }

func (x *signatures) between(a, b uint32) int {
	s, t := x.sets[a], x.sets[b]
	return x.level(len(s), len(t), shingle.Shared(s, t))
}

// near counts what each set shares with those before it, by the lists of rows that have each
// signature.
func (x *signatures) near(ctx context.Context, n int, found func(a, b uint32, distance int)) error {
	lists := map[uint64][]uint32{}
	shared := make([]int32, n)
	var touched []uint32
	for row, set := range x.sets[:n] {
		if row%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, signature := range set {
			list := lists[signature]
			for _, other := range list {
				if shared[other]++; shared[other] == 1 {
					touched = append(touched, other)
				}
			}
			lists[signature] = append(list, uint32(row))
		}
		for _, other := range touched {
			if level := x.level(len(set), len(x.sets[other]), int(shared[other])); level <= MaxK {
				found(other, uint32(row), level)
			}
			shared[other] = 0
		}
		touched = touched[:0]
	}
	return nil
}
