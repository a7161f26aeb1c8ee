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

	// Signing, unless nil, is what is measured instead of fingerprints by Recipe.
	Signing *Signing
}

// A finder tells which documents of a corpus are near each other by a method.
type finder interface {
	// has reports whether a row has a fingerprint, or signatures enough.
	has(row uint32) bool
	// between returns the distance of two rows that have; MaxK + 1 and more is too far.
	between(a, b uint32) int
	// near calls found with every pair of rows within MaxK of each other, once, with the distance.
	near(ctx context.Context, found func(a, b uint32, distance int)) error
	// first returns the finder of the first n documents.
	first(n int) finder
}

// timing is how long it took to make what a finder goes by, and for how many documents there was too little.
type timing struct {
	took time.Duration
	none int
}

// finder returns what tells near documents by a method.
func (c *Corpus) finder(ctx context.Context, m Method, threads int) (finder, timing, error) {
	if m.Signing != nil {
		return c.sign(ctx, m.Signing, threads)
	}
	p, err := c.fingerprint(ctx, m.Recipe, threads)
	if err != nil {
		return nil, timing{}, err
	}
	return p, timing{p.took, p.none}, nil
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

func (p *prints) has(row uint32) bool { return p.ok[row] }

// first returns the fingerprints of the first n documents.
func (p *prints) first(n int) finder {
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
