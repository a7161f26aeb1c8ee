package cluster

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ndd/engine/memory"
)

// stars replaces roots, the component of each fingerprint, by the representative whose star it is
// in.
//
// Stars lie within what near pairs connect, so each component is solved by itself. Taken one by one
// in order of preference, a fingerprint that is in no star yet is a representative, and all within
// K that are still free are its star; which comes to the same as that each looks for the first
// representative within K, and is one itself if there is none:
//
//	roots --by component--> members --by preference--> each: the first representative within K, or one more
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
	by, best []uint32 // by fingerprint
	threads  int
	bytes    int64 // of reps
	reps     Representatives
	ids      []uint32 // of reps, by fingerprint
	found    []int32  // by member, which representative has been found for it; -1: none
}

// solve finds the representative of each member of a component, which it reorders.
func (s *star) solve(ctx context.Context, members []uint32) error {
	if s.Prefer == nil {
		slices.SortFunc(members, func(a, b uint32) int { return cmp.Compare(s.best[a], s.best[b]) })
	} else {
		slices.SortFunc(members, func(a, b uint32) int { return s.better(s.best[a], s.best[b]) })
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
		// The others look for the representatives that there are; those that find none take part in
		// the next round.
		free := members[:0]
		for len(members) > 0 {
			part := members[:min(len(members), s.threads*starLook)]
			if err := s.look(ctx, part); err != nil {
				return err
			}
			for i, x := range part {
				if s.found[i] < 0 {
					free = append(free, x)
				} else {
					s.by[x] = s.ids[s.found[i]]
				}
			}
			members = members[len(part):]
		}
		members = free
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
		r := s.found[i]
		if r < 0 && len(s.reps.keys) > before {
			r = s.first(x) // that was added meanwhile
		}
		if r >= 0 {
			s.by[x] = s.ids[r]
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

// first returns the first of the representatives so far that is near a member, -1 if there is none or
// the member is always one.
func (s *star) first(x uint32) int32 {
	if s.Always != nil && s.Always(int(s.row(s.best[x]))) {
		return -1
	}
	return s.reps.first(s.distinct[x])
}

// look finds for each member the first of the representatives so far, by all goroutines.
func (s *star) look(ctx context.Context, members []uint32) error {
	s.found = slices.Grow(s.found[:0], len(members))[:len(members)]
	some := func(from, to int) {
		for i := from; i < to; i++ {
			s.found[i] = s.first(members[i])
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
