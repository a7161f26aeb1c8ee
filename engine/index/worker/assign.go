package worker

import (
	"cmp"
	"slices"
)

// A room is what of a node matters when pieces are placed.
type room struct {
	cpus  int    // of its own; 0 for far memory
	bytes uint64 // that it has room for
}

// A placement is where a piece is searched.
type placement struct {
	node   int  // whose workers search it
	inFile bool // it stays in its file: no node has room
}

// assign returns a placement of pieces of these sizes, in each of several copies: as
// many as most, if there is room for every piece of them, or fewer. Neighbouring
// nodes share a copy where there are fewer copies than nodes.
func assign(sizes []uint64, nodes []room, most int) (copies [][]placement) {
	var near []int
	for i, s := range nodes {
		if s.cpus > 0 {
			near = append(near, i)
		}
	}
	for n := min(most, len(near)); n > 1; n-- {
		free := loads{nodes: slices.Clone(nodes), load: make([]uint64, len(nodes))}
		copies = copies[:0]
		for c := range n {
			placements, ok := free.put(sizes, near[c*len(near)/n:(c+1)*len(near)/n])
			if !ok {
				break
			}
			copies = append(copies, placements)
		}
		if len(copies) == n {
			return copies
		}
	}
	free := loads{nodes: slices.Clone(nodes), load: make([]uint64, len(nodes))}
	placements, _ := free.put(sizes, near)
	return [][]placement{placements}
}

// loads is how full nodes are.
type loads struct {
	nodes []room   // bytes is what is left
	load  []uint64 // bytes that their workers search
}

// put places each piece on that node among some which has least for its processors
// and has room; ok is false when a piece had none there. That one goes to any
// node that has room, and without one stays in its file, for the least loaded
// to search.
func (s *loads) put(sizes []uint64, among []int) (placements []placement, ok bool) {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	every := make([]int, len(s.nodes))
	for i := range every {
		every[i] = i
	}
	placements = make([]placement, len(sizes))
	ok = true
	for _, i := range order {
		at, fits := s.least(sizes[i], sizes[i], among)
		if !fits {
			ok = false
			if at, fits = s.least(sizes[i], sizes[i], every); !fits {
				at, _ = s.least(sizes[i], 0, among)
			}
		}
		placements[i] = placement{at, !fits}
		s.load[at] += sizes[i]
		if fits {
			s.nodes[at].bytes -= sizes[i]
		}
	}
	return placements, ok
}

// least returns the node with the least load for its processors if it had size bytes
// more, among those with room for room bytes.
func (s *loads) least(size, room uint64, among []int) (best int, ok bool) {
	least := 0.0
	for _, i := range among {
		if s.nodes[i].bytes < room {
			continue
		}
		load := float64(s.load[i]+size) / float64(max(s.nodes[i].cpus, 1))
		if !ok || load < least {
			best, least, ok = i, load, true
		}
	}
	return best, ok
}
