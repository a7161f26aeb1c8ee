package eval

import (
	"context"
	"iter"
	"math/bits"

	"ndd/asm"
	"ndd/engine/corpus/simhash"
	"ndd/engine/parallel"
)

// A Method is one way of telling near-duplicates: fingerprints by a recipe within k and, where
// Verify is above 0, a Jaccard of at least that.
type Method struct {
	Name   string
	Recipe simhash.Recipe
	Verify float64

	// Signing, unless nil, is measured instead of fingerprints by Recipe.
	Signing *Signing
}

// foundK is the distance up to which [Method.Finds] has a pair found.
const foundK = 3

// Finds reports whether a method finds a labelled pair whose entry of [MethodResult.Distances] is
// distance: within 3 bits or at the default threshold of signatures, and verified.
func (m *Method) Finds(distance int, jaccard float64) bool {
	switch {
	case distance < 0 || distance > MaxK || jaccard < m.Verify:
		return false
	case m.Signing != nil:
		return Thresholds[distance] >= m.Signing.Threshold
	}
	return distance <= foundK
}

// A finder tells which documents of a corpus are near each other by a method.
type finder interface {
	// has reports whether a row has a fingerprint, or signatures enough.
	has(row uint32) bool
	// between returns the distance of two rows that have; MaxK + 1 and more is too far.
	between(a, b uint32) int
	// near calls found with every pair of the first n rows within MaxK of each other, once, with
	// the distance.
	near(ctx context.Context, n int, found func(a, b uint32, distance int)) error
}

// finder returns the finder of a method.
func (c *Corpus) finder(ctx context.Context, m Method, threads int) (finder, error) {
	if m.Signing != nil {
		return c.sign(ctx, m.Signing, threads)
	}
	return c.fingerprint(ctx, m.Recipe, threads)
}

// each calls do for the numbers below n, from several goroutines: the functions that start returns,
// one for each goroutine.
func each(ctx context.Context, threads, n int, start func() (do func(i int), err error)) error {
	return parallel.Each(ctx, parallel.Options{Workers: threads}, func(_ context.Context, yield func(int) bool) error {
		for i := 0; i < n && yield(i); i++ {
		}
		return nil
	}, func(_ context.Context, numbers iter.Seq[int]) error {
		do, err := start()
		if err != nil {
			return err
		}
		for i := range numbers {
			do(i)
		}
		return nil
	})
}

// prints are the fingerprints of a corpus.
type prints struct {
	prints []uint64
	ok     []bool // false: too few features for a fingerprint
}

// fingerprint returns the corpus's fingerprints by a recipe.
func (c *Corpus) fingerprint(ctx context.Context, r simhash.Recipe, threads int) (*prints, error) {
	p := &prints{prints: make([]uint64, c.Len()), ok: make([]bool, c.Len())}
	return p, each(ctx, threads, c.Len(), func() (func(int), error) {
		f, err := simhash.New(r)
		return func(i int) {
			fp, _, ok := f.Fingerprint(c.texts[i])
			p.prints[i], p.ok[i] = uint64(fp), ok
		}, err
	})
}

func (p *prints) has(row uint32) bool { return p.ok[row] }

func (p *prints) between(a, b uint32) int { return bits.OnesCount64(p.prints[a] ^ p.prints[b]) }

func (p *prints) near(ctx context.Context, n int, found func(a, b uint32, distance int)) error {
	rows := rowsOf(p, n)
	dense := make([]uint64, len(rows))
	for i, row := range rows {
		dense[i] = p.prints[row]
	}
	hits := make([]uint32, 4096)
	for i, f := range dense {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for at := i + 1; at < len(dense); {
			n, scanned := asm.Within64(hits, dense[at:], f, MaxK)
			for _, j := range hits[:n] {
				other := rows[at+int(j)]
				found(rows[i], other, p.between(rows[i], other))
			}
			at += scanned
		}
	}
	return nil
}

// rowsOf returns those of the first n rows that have something to compare.
func rowsOf(p finder, n int) (rows []uint32) {
	for i := range uint32(n) {
		if p.has(i) {
			rows = append(rows, i)
		}
	}
	return rows
}
