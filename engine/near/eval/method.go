package eval

import (
	"context"
	"math/bits"

	"example.org/ndd/asm"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
)

// A Method finds near-duplicates: fingerprints by a recipe within k and, if Verify is above 0, an estimated Jaccard of
// at least Verify, as dedup does by sketches.
type Method struct {
	Name   string
	Recipe simhash.Recipe
	Verify float64
}

// fingerprints are the fingerprints of a corpus, and the sketches if they are compared.
type fingerprints struct {
	keys     []uint64
	ok       []bool // false: too few features for a fingerprint
	sketches []sketch.Sketch
	verify   float64 // minimum estimate
}

// verified reports whether the sketches of two rows confirm that the documents are similar.
func (p *fingerprints) verified(a, b int) bool {
	if p.sketches == nil {
		return true
	}
	estimate, _ := sketch.Estimate(&p.sketches[a], &p.sketches[b])
	return estimate >= p.verify
}

func (c *Corpus) fingerprint(ctx context.Context, m *Method, threads int) (*fingerprints, error) {
	p := &fingerprints{keys: make([]uint64, c.Len()), ok: make([]bool, c.Len()), verify: m.Verify}
	if m.Verify > 0 {
		p.sketches = make([]sketch.Sketch, c.Len())
	}
	return p, c.Each(ctx, threads, func(context.Context) (func(row int, text string), error) {
		f, err := simhash.New(m.Recipe)
		return func(row int, text string) {
			if p.sketches != nil {
				fp, _, ok, s := f.Sketch(text)
				p.keys[row], p.ok[row], p.sketches[row] = uint64(fp), ok, s
				return
			}
			fp, _, ok := f.Fingerprint(text)
			p.keys[row], p.ok[row] = uint64(fp), ok
		}, err
	})
}

// distance returns the distance of two rows. It is more than MaxK if a row has no fingerprint.
func (p *fingerprints) distance(a, b int) int {
	if !p.ok[a] || !p.ok[b] {
		return 65
	}
	return bits.OnesCount64(p.keys[a] ^ p.keys[b])
}

// nearPairs calls visit once with every pair of the first n rows within MaxK, and its distance.
func (p *fingerprints) nearPairs(ctx context.Context, n int, visit func(a, b uint32, distance int)) error {
	rows := p.rows(n)
	dense := make([]uint64, len(rows))
	for i, row := range rows {
		dense[i] = p.keys[row]
	}
	hits := make([]uint32, 4096)
	for i, f := range dense {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for index := i + 1; index < len(dense); {
			n, scanned := asm.Within64(hits, dense[index:], f, MaxK)
			for _, j := range hits[:n] {
				other := rows[index+int(j)]
				visit(rows[i], other, bits.OnesCount64(f^p.keys[other]))
			}
			index += scanned
		}
	}
	return nil
}

// rows returns the rows below n that have a fingerprint.
func (p *fingerprints) rows(n int) (rows []uint32) {
	for i := range uint32(n) {
		if p.ok[i] {
			rows = append(rows, i)
		}
	}
	return rows
}
