package cluster

import (
	"cmp"
	"context"
	"slices"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/memory"
)

// fingerprintRows are the distinct fingerprints of candidates, ascending, with the candidates that have them.
type fingerprintRows struct {
	Options
	*candidates
	memory   memory.Arena // memory of all slices except distinct
	first    memory.Arena // memory of distinct, which is needed only during the comparison
	sorted   []uint32     // candidates by fingerprint; with the same fingerprint, ascending
	distinct []uint64
	ends     []uint32 // distinct[i] has sorted[ends[i-1]:ends[i]]
}

// newPrints sorts the fingerprints of candidates. The caller must free the result.
func newPrints(ctx context.Context, c *candidates, o Options) (_ *fingerprintRows, err error) {
	p := &fingerprintRows{Options: o, candidates: c, memory: o.Arena.Empty(), first: o.Arena.Empty()}
	defer func() {
		if err != nil {
			p.free()
		}
	}()
	// Sort the fingerprints with their candidates.
	buffer := memory.AllocBuffer[uint64](&p.first, c.len, &err)
	keys := buffer.Data
	if p.sorted = memory.Alloc[uint32](&p.memory, c.len, &err); err != nil {
		return nil, err
	}
	if err := radix.SortRows(ctx, keys, p.sorted, c, radix.Options{Mask: ^uint64(0),
		Threads: o.Threads}); err != nil {
		return nil, err
	}
	// Count the distinct fingerprints, so that ends gets its final size.
	n := 0
	for i, f := range keys {
		if i == 0 || f != keys[i-1] {
			n++
		}
	}
	if p.ends = memory.Alloc[uint32](&p.memory, n, &err); err != nil {
		return nil, err
	}
	// Remove repeated fingerprints in place, and set the ends of their candidates.
	index := -1
	for i, f := range keys {
		if index < 0 || f != keys[index] {
			index++
			keys[index] = f
		}
		p.ends[index] = uint32(i + 1)
	}
	buffer.Trim(n)
	p.distinct = buffer.Data
	return p, nil
}

// free frees all memory.
func (p *fingerprintRows) free() {
	p.memory.Free()
	p.first.Free()
}

// index returns the index of a fingerprint in distinct, which must contain it.
func (p *fingerprintRows) index(f uint64) uint32 {
	i, _ := slices.BinarySearch(p.distinct, f)
	return uint32(i)
}

// having returns the candidates that have distinct[i].
func (p *fingerprintRows) having(i int) []uint32 {
	if i == 0 {
		return p.sorted[:p.ends[0]]
	}
	return p.sorted[p.ends[i-1]:p.ends[i]]
}

// better compares candidates by preference.
func (p *fingerprintRows) better(a, b uint32) int {
	if p.Prefer != nil {
		if c := p.Prefer(int(p.row(a)), int(p.row(b))); c != 0 {
			return c
		}
	}
	return cmp.Compare(a, b)
}

// best returns the preferred candidate of each fingerprint.
func (p *fingerprintRows) best() (best []uint32, err error) {
	best = memory.Alloc[uint32](&p.memory, len(p.ends), &err)
	for i := range best {
		rows := p.having(i)
		best[i] = rows[0]
		if p.Prefer == nil {
			continue
		}
		for _, other := range rows[1:] {
			if p.better(other, best[i]) < 0 {
				best[i] = other
			}
		}
	}
	return best, err
}

// countRows returns the number of candidates with any of some fingerprints.
func (p *fingerprintRows) countRows(members []uint32) (n int) {
	for _, i := range members {
		n += len(p.having(int(i)))
	}
	return n
}
