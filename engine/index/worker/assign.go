package worker

import (
	"cmp"
	"slices"
)

// A spot is what matters of a place when pieces are given to places.
type spot struct {
	cpus int    // of its own; 0 for far memory
	room uint64 // bytes
}

// A home is where a piece is.
type home struct {
	spot  int  // whose workers search it
	stays bool // in its file: no spot has room
}

// assign gives pieces of these sizes a home each, in each of several copies: as
// many as most, if there is room for every piece of them, or fewer. Neighbouring
// spots share a copy where there are fewer copies than spots.
func assign(sizes []uint64, spots []spot, most int) (copies [][]home) {
	var near []int
	for i, s := range spots {
		if s.cpus > 0 {
			near = append(near, i)
		}
	}
	for n := min(most, len(near)); n > 1; n-- {
		rooms := spread{spots: slices.Clone(spots), load: make([]uint64, len(spots))}
		copies = copies[:0]
		for c := range n {
			homes, ok := rooms.put(sizes, near[c*len(near)/n:(c+1)*len(near)/n])
			if !ok {
				break
			}
			copies = append(copies, homes)
		}
		if len(copies) == n {
			return copies
		}
	}
	rooms := spread{spots: slices.Clone(spots), load: make([]uint64, len(spots))}
	homes, _ := rooms.put(sizes, near)
	return [][]home{homes}
}

// spread is how full spots are.
type spread struct {
	spots []spot // room is what is left
	load  []uint64
}

// put gives each piece the spot among some that has least for its processors
// and has room; ok is false when a piece had none there. That one goes to any
// spot that has room, and without one stays where it is, for the least loaded
// to search.
func (s *spread) put(sizes []uint64, among []int) (homes []home, ok bool) {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	every := make([]int, len(s.spots))
	for i := range every {
		every[i] = i
	}
	homes = make([]home, len(sizes))
	ok = true
	for _, i := range order {
		at, fits := s.least(sizes[i], sizes[i], among)
		if !fits {
			ok = false
			if at, fits = s.least(sizes[i], sizes[i], every); !fits {
				at, _ = s.least(sizes[i], 0, among)
			}
		}
		homes[i] = home{at, !fits}
		s.load[at] += sizes[i]
		if fits {
			s.spots[at].room -= sizes[i]
		}
	}
	return homes, ok
}

// least is the spot with the least load for its processors if it had size bytes
// more, among those with room.
func (s *spread) least(size, room uint64, among []int) (best int, ok bool) {
	least := 0.0
	for _, i := range among {
		if s.spots[i].room < room {
			continue
		}
		load := float64(s.load[i]+size) / float64(max(s.spots[i].cpus, 1))
		if !ok || load < least {
			best, least, ok = i, load, true
		}
	}
	return best, ok
}
