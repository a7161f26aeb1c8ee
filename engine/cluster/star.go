package cluster

import (
	"cmp"
	"context"
	"slices"
)

// stars finds the representatives of star mode and what each takes. Taken one
// by one in order of preference, a fingerprint that no former one has taken is
// a representative, and takes all within K that are still free:
//
//	a fingerprint is a representative  if none of its better neighbours is one
//	              is taken by          the best neighbour that is one
//
// That has one solution, whatever the order in which pairs come. Pairs are
// held and solved at once where there is room. Where there is not, a round
// holds those that begin at the fingerprints preferred most, as many as fit,
// and solves these; so as not to depend on room alone, it also settles every
// fingerprint whose better neighbours are all settled (the best one that is
// free always is). Then the join is repeated for what is left, of which only
// the pairs that begin at a free fingerprint matter. A clump of billions of
// pairs is settled in a few rounds, since its first members take most of it; a
// long chain has few pairs and needs no rounds.
type stars struct {
	*prints
	best  []uint32 // row preferred, by fingerprint
	by    []uint32 // the representative that takes a fingerprint, or itself
	state []state
	held  []uint64 // pairs: the better one above, the other below
	room  int      // how many pairs may be held
	limit int64    // pairs are held in this round if the better one's row is this or preferred to it; or noLimit, or noRow
}

const (
	noLimit = -1
	noRow   = -2
)

// state of a fingerprint.
type state uint8

const (
	free    state = iota
	blocked       // free, and a better neighbour was free in this round
	taken
	representative
)

// heldBytes is what a held pair takes: 8 bytes, as much again and more while the
// list grows or shrinks, and its hub.
const heldBytes = 32

// newStars begins with all fingerprints free.
func newStars(p *prints, best []uint32) (s *stars, err error) {
	s = &stars{prints: p, best: best}
	if s.by, err = arrayOf[uint32](&p.memory, len(best)); err != nil {
		return nil, err
	}
	for i := range s.by {
		s.by[i] = uint32(i)
	}
	s.state = make([]state, len(best))
	s.room = int(max(1, p.PairBytes/heldBytes))
	return s, nil
}

// run solves it and returns the number of pairs.
func (s *stars) run(ctx context.Context) (pairs uint64, err error) {
	for round := 0; ; round++ {
		s.held, s.limit = s.held[:0], noLimit
		err := s.join(ctx, func(x, y uint32) {
			if round == 0 {
				pairs++
			}
			if s.better(s.best[y], s.best[x]) < 0 {
				x, y = y, x
			}
			s.pair(x, y)
		})
		if err != nil {
			return 0, err
		}
		s.solve()
		if s.limit == noLimit {
			return pairs, nil
		}
		for i, st := range s.state {
			switch st {
			case free:
				s.state[i] = representative
			case blocked:
				s.state[i] = free
			}
		}
	}
}

// pair takes a pair whose better one is u.
func (s *stars) pair(u, v uint32) {
	switch s.state[u] {
	case representative:
		s.take(u, v)
	case free, blocked:
		if s.state[v] == free {
			s.state[v] = blocked
		}
		if s.limit == noRow || s.limit >= 0 && s.better(s.best[u], uint32(s.limit)) > 0 {
			return
		}
		if s.held = append(s.held, uint64(u)<<32|uint64(v)); len(s.held) >= s.room {
			s.shrink()
		}
	}
}

// take gives v to the representative u unless a better one has it.
func (s *stars) take(u, v uint32) {
	if s.state[v] != taken || s.better(s.best[u], s.best[s.by[v]]) < 0 {
		s.state[v], s.by[v] = taken, u
	}
}

// shrink forgets the pairs of the hubs preferred least, half of what there is room for.
func (s *stars) shrink() {
	kept := 0
	s.limit = noRow
	var keep []uint64
	for _, h := range s.hubs() {
		if kept += int(h.to - h.from); kept > s.room/2 {
			break
		}
		keep = append(keep, s.held[h.from:h.to]...)
		s.limit = int64(s.best[h.print])
	}
	s.held = keep
}

// A hub is a fingerprint with the pairs held[from:to] of which it is the better one.
type hub struct{ print, from, to uint32 }

// hubs sorts the pairs and lists the hubs in order of preference.
func (s *stars) hubs() (hubs []hub) {
	slices.Sort(s.held)
	for from := 0; from < len(s.held); {
		u := uint32(s.held[from] >> 32)
		to := from
		for to < len(s.held) && uint32(s.held[to]>>32) == u {
			to++
		}
		hubs = append(hubs, hub{u, uint32(from), uint32(to)})
		from = to
	}
	slices.SortFunc(hubs, func(a, b hub) int {
		return cmp.Or(s.better(s.best[a.print], s.best[b.print]), cmp.Compare(a.print, b.print))
	})
	return hubs
}

// solve settles the hubs that are held, the best first: no pair is missing that begins
// at one of them or at a better fingerprint.
func (s *stars) solve() {
	for _, h := range s.hubs() {
		if s.state[h.print] == taken {
			continue
		}
		s.state[h.print] = representative
		for _, pair := range s.held[h.from:h.to] {
			s.take(h.print, uint32(pair))
		}
	}
	s.held = nil
}
