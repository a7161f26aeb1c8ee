package eval

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"ndd/engine/corpus/simhash"
	"ndd/engine/parallel"
)

// expected returns for each pair the chance that the sketch of a recipe finds it within each k; see the package comment. Pairs that
// are identical or different have none.
func (c *Corpus) expected(ctx context.Context, pairs []Pair, r simhash.Recipe, threads int) ([]Curve, error) {
	chances := make([]Curve, len(pairs))
	return chances, parallel.Each(ctx, parallel.Options{Workers: threads}, numbers(len(pairs)), func(_ context.Context, items iter.Seq[int]) error {
		f, err := simhash.New(r)
		if err != nil {
			return err
		}
		var a, b []simhash.Feature
		for i := range items {
			p := &pairs[i]
			if p.Identical || p.Kind == Different {
				continue
			}
			a, b = f.AppendFeatures(a[:0], c.texts[p.A]), f.AppendFeatures(b[:0], c.texts[p.B])
			chances[i] = either(within(flipRate(r, a, b)), r.PrintsEach())
		}
		return nil
	})
}

// either returns the chance that one of n independent fingerprints is near, where each is with the chance of c.
func either(c Curve, n int) Curve {
	for k := range c {
		c[k] = 1 - math.Pow(1-c[k], float64(n))
	}
	return c
}

// flipRate returns the chance that a bit of two texts' fingerprints differs, by their features.
func flipRate(r simhash.Recipe, a, b []simhash.Feature) float64 {
	order := func(x, y simhash.Feature) int { return cmp.Compare(x.Hash, y.Hash) }
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	var dot, squareA, squareB, shared, all float64
	for i, j := 0, 0; i < len(a) || j < len(b); {
		var u, v float64
		switch {
		case j == len(b) || i < len(a) && a[i].Hash < b[j].Hash:
			u = float64(a[i].Weight)
			i++
		case i == len(a) || b[j].Hash < a[i].Hash:
			v = float64(b[j].Weight)
			j++
		default:
			u, v = float64(a[i].Weight), float64(b[j].Weight)
			i++
			j++
		}
		dot += u * v
		squareA += u * u
		squareB += v * v
		shared += min(u, v)
		all += max(u, v)
	}
	if all == 0 {
		return 0
	}
	if r.Sketch == simhash.SketchMinwise {
		return (1 - shared/all) / 2
	}
	if squareA == 0 || squareB == 0 {
		return 0.5
	}
	return math.Acos(min(dot/math.Sqrt(squareA*squareB), 1)) / math.Pi
}

// within returns the chance that at most k of 64 bits differ, where each does with chance p.
func within(p float64) (c Curve) {
	chance := math.Pow(1-p, 64) // of none
	sum := 0.0
	for k := range c {
		sum += chance
		c[k] = min(sum, 1)
		chance *= p / (1 - p) * float64(64-k) / float64(k+1)
	}
	return c
}
