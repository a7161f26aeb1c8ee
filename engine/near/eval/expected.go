package eval

import (
	"context"
	"iter"
	"math"

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
			chances[i] = either(within(r.FlipRate(simhash.OverlapOf(a, b))), r.PrintsEach())
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
