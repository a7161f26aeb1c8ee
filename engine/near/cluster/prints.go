package cluster

import (
	"cmp"
	"context"

	"ndd/engine/index/radix"
	"ndd/engine/memory"
)

// prints are the distinct fingerprints, ascending, with their rows.
type prints struct {
	Options
	memory   memory.Arena // of everything but distinct
	first    memory.Arena // of distinct, which is needed only while they are compared
	rows     []uint32     // of fingerprints, equal ones together, ascending
	distinct []uint64
	ends     []uint32 // distinct[i] has rows[ends[i-1]:ends[i]]
}

// newPrints sorts fingerprints. Free what it returns.
func newPrints(ctx context.Context, fingerprints []uint64, o Options) (p *prints, err error) {
	buffer, err := memory.Make[radix.Pair](len(fingerprints))
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
	p = &prints{Options: o}
	defer func() {
		if err != nil {
			p.free()
		}
	}()
	p.rows = memory.In[uint32](&p.memory, len(sorted), &err)
	p.ends = memory.In[uint32](&p.memory, n, &err)
	if p.distinct = memory.In[uint64](&p.first, n, &err); err != nil {
		return nil, err
	}
	at := -1
	for i, s := range sorted {
		if i == 0 || s[0] != p.distinct[at] {
			at++
			p.distinct[at] = s[0]
		}
		p.ends[at] = uint32(i + 1)
		p.rows[i] = uint32(s[1])
	}
	return p, nil
}

// free frees all memory.
func (p *prints) free() {
	p.memory.Free()
	p.first.Free()
}

// index returns the index in distinct of a fingerprint that is there. It interpolates: where they
// are uniform the third guess, by what the one before is off, is off by some ten; from there steps
// double until it is between two, as they have to where dense groups make guesses bad.
func (p *prints) index(f uint64) uint32 {
	d := p.distinct
	last := len(d) - 1
	slope := float64(last) / max(1, float64(d[last]-d[0]))
	guess := min(int(float64(f-d[0])*slope), last)
	for range 2 {
		off := int(float64(int64(f/2)-int64(d[guess]/2)) * 2 * slope)
		guess = min(max(guess+off, 0), last)
	}
	from, to := guess, guess+1
	for step := guessOff; d[from] > f; step *= 2 { // d[0] is not
		to, from = from, max(0, from-step)
	}
	for step := guessOff; to <= last && d[to] <= f; step *= 2 {
		from, to = to, min(last+1, to+step)
	}
	for to-from > 1 {
		if mid := int(uint(from+to) / 2); d[mid] <= f {
			from = mid
		} else {
			to = mid
		}
	}
	return uint32(from)
}

// guessOff is how far a good guess is off.
const guessOff = 8

// rowsOf returns the rows of distinct[i].
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

// best returns, by fingerprint, the row preferred among those that have it.
func (p *prints) best() (best []uint32, err error) {
	best = memory.In[uint32](&p.memory, len(p.ends), &err)
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
	return best, err
}

// countRows returns how many rows some fingerprints have.
func (p *prints) countRows(members []uint32) (n int) {
	for _, i := range members {
		n += len(p.rowsOf(int(i)))
	}
	return n
}
