package eval

import (
	"context"
	"math/bits"

	"ndd/asm"
	"ndd/engine/corpus/simhash"
)

// A Method is one way of telling near-duplicates: fingerprints by a recipe within k and, where
// Verify is above 0, a Jaccard of at least that.
type Method struct {
	Name   string
	Recipe simhash.Recipe
	Verify float64
}

// foundK is the distance up to which [Method.Finds] has a pair found.
const foundK = 3

// Finds reports whether a method finds a labelled pair whose entry of [MethodResult.Distances] is
// distance: within 3 bits, and verified.
func (m *Method) Finds(distance int, jaccard float64) bool {
	return distance >= 0 && distance <= foundK && jaccard >= m.Verify
}

// prints are the fingerprints of a corpus.
type prints struct {
	prints []uint64
	ok     []bool // false: too few features for a fingerprint
}

func (c *Corpus) fingerprint(ctx context.Context, r simhash.Recipe, threads int) (*prints, error) {
	p := &prints{prints: make([]uint64, c.Len()), ok: make([]bool, c.Len())}
	return p, c.Each(ctx, threads, func(context.Context) (func(row int, text string), error) {
		f, err := simhash.New(r)
		return func(row int, text string) {
			fp, _, ok := f.Fingerprint(text)
			p.prints[row], p.ok[row] = uint64(fp), ok
		}, err
	})
}

// between returns the distance of two rows, more than MaxK where one has no fingerprint.
func (p *prints) between(a, b int) int {
	if !p.ok[a] || !p.ok[b] {
		return 65
	}
	return bits.OnesCount64(p.prints[a] ^ p.prints[b])
}

// near calls found with every pair of the first n rows within MaxK of each other, once, with the
// distance.
func (p *prints) near(ctx context.Context, n int, found func(a, b uint32, distance int)) error {
	rows := p.rows(n)
	dense := make([]uint64, len(rows))
	for i, row := range rows {
		dense[i] = p.prints[row]
	}
	hits := make([]uint32, 4096)
	for i, f := range dense {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for at := i + 1; at < len(dense); {
			n, scanned := asm.Within64(hits, dense[at:], f, MaxK)
			for _, j := range hits[:n] {
				other := rows[at+int(j)]
				found(rows[i], other, bits.OnesCount64(f^p.prints[other]))
			}
			at += scanned
		}
	}
	return nil
}

// rows returns those of the first n rows that have a fingerprint.
func (p *prints) rows(n int) (rows []uint32) {
	for i := range uint32(n) {
		if p.ok[i] {
			rows = append(rows, i)
		}
	}
	return rows
}
