package worker

import (
	"cmp"
	"slices"
)

// A nodeRoom has the figures of a node that decide where tables are placed.
type nodeRoom struct {
	cpus  int    // its own processors; 0 for a node that has only memory
	bytes uint64 // free bytes
	load  uint64 // bytes that its workers search
}

// A placement is the node of a table.
type placement struct {
	node   int  // index of the node whose workers search it
	inFile bool // the table stays in its file, because no node has space
}

// assign chooses a node for each table, largest first: the node with processors and space that has the lowest load
// per processor. If no such node has space, it takes any node that has. If there is none, the table stays in its file,
// and the least loaded node searches it. assign changes nodes.
func assign(sizes []uint64, nodes []nodeRoom) []placement {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	placements := make([]placement, len(sizes))
	for _, i := range order {
		node, fits := leastLoaded(nodes, sizes[i], sizes[i], false)
		if !fits {
			if node, fits = leastLoaded(nodes, sizes[i], sizes[i], true); !fits {
				node, _ = leastLoaded(nodes, sizes[i], 0, false)
			}
		}
		placements[i] = placement{node, !fits}
		nodes[node].load += sizes[i]
		if fits {
			nodes[node].bytes -= sizes[i]
		}
	}
	return placements
}

// leastLoaded returns the node with the lowest load per processor after adding size bytes, among nodes with at least
// free bytes of space. It considers nodes without processors only if remote is true.
func leastLoaded(nodes []nodeRoom, size, free uint64, remote bool) (best int, ok bool) {
	minimum := 0.0
	for i, n := range nodes {
		if n.bytes < free || n.cpus == 0 && !remote {
			continue
		}
		load := float64(n.load+size) / float64(max(n.cpus, 1))
		if !ok || load < minimum {
			best, minimum, ok = i, load, true
		}
	}
	return best, ok
}
