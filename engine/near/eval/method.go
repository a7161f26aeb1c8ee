package eval

import (
	"context"
	"fmt"
	"iter"
	"math/bits"
	"time"

	"ndd/engine/corpus/simhash"
	"ndd/engine/parallel"
)

// A Method is one way of telling near-duplicates: fingerprints by a recipe within k and, where Verify is above 0, a
// Jaccard of at least that.
type Method struct {
	Name   string
	Recipe simhash.Recipe
	Verify float64
}

// prints are the fingerprints of a corpus.
type prints struct {
	prints []uint64
	second []uint64 // of a recipe with two prints, of which texts are near when either is; else nil
	ok     []bool   // false: too few features for a fingerprint
	none   int      // how many of them
	took   time.Duration
}

// fingerprint returns the corpus's fingerprints by a recipe.
func (c *Corpus) fingerprint(ctx context.Context, r simhash.Recipe, threads int) (*prints, error) {
	p := &prints{prints: make([]uint64, c.Len()), ok: make([]bool, c.Len())}
	if r.PrintsEach() > 1 {
		p.second = make([]uint64, c.Len())
	}
	began := time.Now()
	err := parallel.Each(ctx, parallel.Options{Workers: threads}, numbers(c.Len()), func(_ context.Context, items iter.Seq[int]) error {
		f, err := simhash.New(r)
		if err != nil {
			return err
		}
		for i := range items {
			fp, _, ok := f.Fingerprint(c.texts[i])
			p.prints[i], p.ok[i] = uint64(fp), ok
			if p.second != nil {
				p.second[i] = uint64(f.Second())
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.took = time.Since(began)
	for _, ok := range p.ok {
		if !ok {
			p.none++
		}
	}
	return p, nil
}

// numbers produces the numbers below n.
func numbers(n int) parallel.Produce[int] {
	return func(_ context.Context, yield func(int) bool) error {
		for i := 0; i < n && yield(i); i++ {
		}
		return nil
	}
}

// first returns the fingerprints of the first n documents.
func (p *prints) first(n int) *prints {
	return &prints{prints: p.prints[:n], second: p.second[:min(n, len(p.second))], ok: p.ok[:n]}
}

// between returns the distance of the fingerprints of two rows, the lesser one of two.
func (p *prints) between(a, b uint32) int {
	d := bits.OnesCount64(p.prints[a] ^ p.prints[b])
	if len(p.second) > 0 {
		d = min(d, bits.OnesCount64(p.second[a]^p.second[b]))
	}
	return d
}

// rekeyed returns the recipe with the i-th of its alternative hash keys; the 0-th is its own.
func rekeyed(r simhash.Recipe, i int) simhash.Recipe {
	if i > 0 {
		r.Key = fmt.Sprintf("%02x", i) + r.Key[2:]
	}
	return r
}
