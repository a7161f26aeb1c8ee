package cluster

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ndd/engine/memory"
)

// stars replaces roots, the component of each fingerprint, by the representative whose star it is
// in.
//
// Stars lie within what near pairs connect, so each component is solved by itself. Taken one by one
// in order of preference, each looks for the nearest representative within K so far, the first of
// several, and is one itself if there is none:
//
//	roots --by component--> members --by preference--> each: the nearest representative within K, or one more
//
// So a member is compared with the representatives of its neighbourhood and never with its
// neighbours, which may be thousands: in a dense group a few represent all.
func (p *prints) stars(ctx context.Context, roots, best []uint32) error {
	arena := memory.Arena{Map: p.arena.Map}
	defer arena.Free()
	all, err := listComponents(&arena, roots)
	if err != nil {
		return err
	}
	var next atomic.Int64
	g, inner := errgroup.WithContext(ctx)
	for range p.Threads {
		g.Go(func() error {
			s := star{prints: p, by: roots, best: best, threads: 1, bytes: max(1, p.StarBytes/int64(p.Threads))}
			for from := 0; from < len(roots); {
				from = int(next.Add(starPart)) - starPart
				for i := from; i < min(from+starPart, len(roots)); i++ {
					if c := all.of(i); len(c) > 1 && len(c) < starLarge {
						if err := s.solve(inner, c); err != nil {
							return err
						}
					}
				}
			}
			return inner.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	s := star{prints: p, by: roots, best: best, threads: p.Threads, bytes: p.StarBytes}
	for i := range roots {
		if c := all.of(i); len(c) >= starLarge {
			if err := s.solve(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	starPart  = 1 << 14 // fingerprints whose components a goroutine solves at a time
	starLarge = 1 << 15 // members from which on a component is solved by all goroutines
	starLook  = 1 << 12 // members that a goroutine looks up at a time
)

type star struct {
	*prints
	by, best []uint32 // by fingerprint; by is free before a representative is found
	threads  int
	bytes    int64 // of reps
	reps     Representatives
	ids      []uint32 // of reps, by fingerprint
	found    []uint64 // by member, the nearest representative of those before its part
}

const free = math.MaxUint32

// solve finds the representative of each member of a component, which it reorders.
func (s *star) solve(ctx context.Context, members []uint32) error {
	if s.Prefer == nil {
		slices.SortFunc(members, func(a, b uint32) int { return cmp.Compare(s.best[a], s.best[b]) })
	} else {
		slices.SortFunc(members, func(a, b uint32) int { return s.better(s.best[a], s.best[b]) })
	}
	for _, x := range members {
		s.by[x] = free
	}
	for len(members) > 0 {
		s.reps.Reset(s.K, s.bytes)
		s.ids = s.ids[:0]
		for len(members) > 0 && !s.reps.full() {
			part := members[:min(len(members), s.threads*starLook)]
			n, err := s.elect(ctx, part)
			if err != nil {
				return err
			}
			members = members[n:]
		}
		// The others look for the representatives that there are, and take part in the next round: one of
		// that may be nearer.
		for left := members; len(left) > 0; {
			part := left[:min(len(left), s.threads*starLook)]
			if err := s.look(ctx, part); err != nil {
				return err
			}
			for i, x := range part {
				s.take(x, s.found[i])
			}
			left = left[len(part):]
		}
	}
	return nil
}

// elect finds the representatives of members, or makes them representatives, one by one, until
// there is no room for more, and returns for how many it has.
func (s *star) elect(ctx context.Context, members []uint32) (n int, err error) {
	before := len(s.reps.keys)
	if err := s.look(ctx, members); err != nil {
		return 0, err
	}
	for i, x := range members {
		near := s.found[i]
		if len(s.reps.keys) > before {
			near = min(near, s.nearest(x, before)) // of those that were added meanwhile
		}
		if s.take(x, near); s.by[x] != free {
			continue
		}
		if s.reps.full() {
			return i, nil
		}
		s.by[x] = x
		s.reps.add(s.distinct[x])
		s.ids = append(s.ids, x)
	}
	return len(members), nil
}

// take gives a member a representative of this round if it is nearer than that of an earlier one.
func (s *star) take(x uint32, near uint64) {
	if near == none {
		return
	}
	if old := s.by[x]; old == free || int(near>>32) < bits.OnesCount64(s.distinct[x]^s.distinct[old]) {
		s.by[x] = s.ids[uint32(near)]
	}
}

// nearest returns the nearest of the representatives of this round from a number on, none if there is none or the member is
// always one.
func (s *star) nearest(x uint32, from int) uint64 {
	if s.Always != nil && s.Always(int(s.row(s.best[x]))) {
		return none
	}
	return s.reps.nearest(s.distinct[x], from)
}

// look finds for each member the nearest of the representatives of this round, by all goroutines.
func (s *star) look(ctx context.Context, members []uint32) error {
	s.found = slices.Grow(s.found[:0], len(members))[:len(members)]
	some := func(from, to int) {
		for i := from; i < to; i++ {
			s.found[i] = s.nearest(members[i], 0)
		}
	}
	if len(members) <= starLook {
		some(0, len(members))
		return ctx.Err()
	}
	var g errgroup.Group
	for from := 0; from < len(members); from += starLook {
		g.Go(func() error {
			some(from, min(from+starLook, len(members)))
			return nil
		})
	}
	g.Wait()
	return ctx.Err()
}
