package cluster

import (
	"cmp"
	"context"
	"slices"

	"ndd/engine/offheap"
	"ndd/engine/radix"
)

// prints are the distinct fingerprints, ascending, with their rows.
type prints struct {
	Options
	rows     []uint32 // of fingerprints, equal ones together, ascending
	distinct []uint64
	ends     []uint32 // distinct[i] has rows[ends[i-1]:ends[i]]
}

func newPrints(ctx context.Context, fingerprints []uint64, o Options) (*prints, error) {
	buffer, err := offheap.Make[radix.Pair](len(fingerprints))
	if err != nil {
		return nil, err
	}
	defer buffer.Free()
	sorted := buffer.Data
	radix.Pairs(sorted, fingerprints, ^uint64(0), o.Threads)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := 0
	for i := range sorted {
		if i == 0 || sorted[i][0] != sorted[i-1][0] {
			n++
		}
	}
	p := &prints{Options: o, rows: make([]uint32, len(sorted)), distinct: make([]uint64, 0, n), ends: make([]uint32, 0, n)}
	for i, s := range sorted {
		if i > 0 && s[0] != sorted[i-1][0] {
			p.ends = append(p.ends, uint32(i))
		}
		if i == 0 || s[0] != sorted[i-1][0] {
			p.distinct = append(p.distinct, s[0])
		}
		p.rows[i] = uint32(s[1])
	}
	if n > 0 {
		p.ends = append(p.ends, uint32(len(sorted)))
	}
	return p, nil
}

// join calls emit with the indices of near fingerprints, each pair once, from
// one goroutine at a time.
func (p *prints) join(ctx context.Context, emit func(x, y uint32)) error {
	if len(p.distinct) < 2 {
		return ctx.Err()
	}
	return Join(ctx, p.distinct, Choose(len(p.distinct), p.K), p.Threads, func(a, b uint64) {
		emit(p.index(a), p.index(b))
	})
}

// index is the place of a fingerprint that is there.
func (p *prints) index(f uint64) uint32 {
	i, _ := slices.BinarySearch(p.distinct, f)
	return uint32(i)
}

func (p *prints) rowsOf(i int) []uint32 {
	if i == 0 {
		return p.rows[:p.ends[0]]
	}
	return p.rows[p.ends[i-1]:p.ends[i]]
}

// better compares rows by preference.
func (p *prints) better(a, b uint32) int {
	if p.Prefer != nil {
		if c := p.Prefer(int(a), int(b)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a, b)
}

// best is the row preferred among those of each fingerprint.
func (p *prints) best() []uint32 {
	best := make([]uint32, len(p.ends))
	for i := range best {
		rows := p.rowsOf(i)
		best[i] = rows[0]
		if p.Prefer == nil {
			continue
		}
		for _, row := range rows[1:] {
			if p.better(row, best[i]) < 0 {
				best[i] = row
			}
		}
	}
	return best
}
