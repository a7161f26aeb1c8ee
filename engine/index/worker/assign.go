package worker

import (
	"cmp"
	"slices"
)

// A room is what of a node matters when tables are placed.
type room struct {
	cpus  int    // of its own; 0 for far memory
	bytes uint64 // that it has room for
	load  uint64 // bytes that its workers search
}

// A placement is where a table is searched.
type placement struct {
	node   int  // whose workers search it
	inFile bool // it stays in its file: no node has room
}

// assign places each table, by its size, on that node with processors which has least for them and
// has room. A table without room there goes to any node that has room, and without one stays in its
// file, for the least loaded to search. It overwrites nodes.
func assign(sizes []uint64, nodes []room) []placement {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	placements := make([]placement, len(sizes))
	for _, i := range order {
		at, fits := least(nodes, sizes[i], sizes[i], false)
		if !fits {
			if at, fits = least(nodes, sizes[i], sizes[i], true); !fits {
				at, _ = least(nodes, sizes[i], 0, false)
			}
		}
		placements[i] = placement{at, !fits}
		nodes[at].load += sizes[i]
		if fits {
			nodes[at].bytes -= sizes[i]
		}
	}
	return placements
}

// least returns the node with the least load for its processors if it had size bytes
// more, among those with room for free bytes; far memory is among them only where that is wanted.
func least(nodes []room, size, free uint64, far bool) (best int, ok bool) {
	lowest := 0.0
	for i, n := range nodes {
		if n.bytes < free || n.cpus == 0 && !far {
			continue
		}
		load := float64(n.load+size) / float64(max(n.cpus, 1))
		if !ok || load < lowest {
			best, lowest, ok = i, load, true
		}
	}
	return best, ok
}
