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
// keeps none: it settles every fingerprint whose better neighbours are all
// settled (the best one that is free always is), and the join is repeated for
// what is left, of which only the pairs that begin at a free fingerprint
// matter. A clump of billions of pairs is settled in a few rounds, since its
// best member takes most of it; a long chain has few pairs and needs no rounds.
type stars struct {
	*prints
	best  []uint32 // row preferred, by fingerprint
	by    []uint32 // the representative that takes a fingerprint, or itself
	state []state
	held  []uint64 // pairs: the better one above, the other below
	room  int      // how many pairs may be held
	full  bool     // there were more in this round
}

// state of a fingerprint.
type state uint8

const (
	free    state = iota
	blocked       // free, and a better neighbour was free in this round
	taken
	representative
)

// heldBytes is what a held pair takes: 8 bytes, as much again while the list
// grows, and its share of the hubs.
const heldBytes = 32

// newStars begins with all fingerprints free.
func newStars(p *prints) *stars {
	n := len(p.distinct)
	s := &stars{prints: p, best: p.best(), by: make([]uint32, n), state: make([]state, n)}
	for i := range s.by {
		s.by[i] = uint32(i)
	}
	s.room = int(max(1, p.PairBytes/heldBytes))
	return s
}

// run solves it and returns the number of pairs.
func (s *stars) run(ctx context.Context) (pairs uint64, err error) {
	for round := 0; ; round++ {
		s.held, s.full = s.held[:0], false
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
		if !s.full {
			s.solve()
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
		if s.full = s.full || len(s.held) == s.room; s.full {
			s.held = nil
		} else {
			s.held = append(s.held, uint64(u)<<32|uint64(v))
		}
	}
}

// take gives v to the representative u unless a better one has it.
func (s *stars) take(u, v uint32) {
	if s.state[v] != taken || s.better(s.best[u], s.best[s.by[v]]) < 0 {
		s.state[v], s.by[v] = taken, u
	}
}

// solve settles what is free by the pairs that are held, the best first.
func (s *stars) solve() {
	slices.Sort(s.held)
	type hub struct{ print, from, to uint32 } // its pairs are held[from:to]
	var hubs []hub
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
	for _, h := range hubs {
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
