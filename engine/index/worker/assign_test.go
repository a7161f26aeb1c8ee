package worker

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestAssign(t *testing.T) {
	const none = ^uint64(0)
	near := func(rooms ...uint64) (nodes []room) {
		for _, r := range rooms {
			nodes = append(nodes, room{4, r})
		}
		return nodes
	}
	for _, c := range []struct {
		name  string
		sizes []uint64
		nodes []room
		most  int
		want  string
	}{
		{"one node", []uint64{5, 5}, near(none), 1, "[[0 0]]"},
		{"one each", []uint64{5, 5}, near(none, none), 1, "[[0 1]]"},
		{"by size", []uint64{1, 2, 3, 10}, near(none, none), 1, "[[1 1 1 0]]"},
		{"no room for the largest", []uint64{4, 10}, near(5, 20), 1, "[[0 1]]"},
		{"twice the processors", []uint64{3, 3, 3}, []room{{8, none}, {4, none}}, 1, "[[0 0 1]]"},
		{"far memory last", []uint64{5, 5, 5}, []room{{4, 10}, {0, 100}}, 1, "[[0 0 1]]"},
		{"far memory never first", []uint64{5}, []room{{0, 100}, {4, 10}}, 1, "[[1]]"},
		{"no room at all", []uint64{5, 5, 5}, near(5, 5), 1, "[[0 1 0!]]"},
		{"a copy each", []uint64{5, 5}, near(10, 10), 2, "[[0 0] [1 1]]"},
		{"no room for a second copy", []uint64{5, 5}, near(10, 9), 2, "[[0 1]]"},
		{"a copy for two", []uint64{5, 5}, near(9, 9, 9, 9), 4, "[[0 1] [2 3]]"},
		{"fewer asked for", []uint64{5, 5}, near(10, 10, 10, 10), 2, "[[0 1] [2 3]]"},
		{"far memory has no copy", []uint64{5}, []room{{4, 5}, {4, 5}, {0, 100}}, 3, "[[0] [1]]"},
		{"three of four, and no more", []uint64{6}, near(6, 6, 6, 1), 4, "[[0] [1] [2]]"},
		{"no piece", nil, near(1), 1, "[[]]"},
	} {
		got := "["
		for i, placements := range assign(c.sizes, c.nodes, c.most) {
			if i > 0 {
				got += " "
			}
			var list []string
			for _, h := range placements {
				text := fmt.Sprint(h.node)
				if h.inFile {
					text += "!"
				}
				list = append(list, text)
			}
			got += fmt.Sprint(list)
		}
		if got += "]"; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestAssignFits says of random pieces and nodes: no node holds more than it has
// room for, all copies but a single one are whole, and a piece stays only where
// it would not fit in what is left anywhere.
func TestAssignFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 1))
	for range 5000 {
		sizes := make([]uint64, 1+rng.IntN(12))
		for i := range sizes {
			sizes[i] = 1 + rng.Uint64N(20)
		}
		nodes := make([]room, 1+rng.IntN(8))
		for i := range nodes {
			nodes[i] = room{rng.IntN(4), rng.Uint64N(80)}
		}
		nodes[rng.IntN(len(nodes))].cpus = 1
		copies := assign(sizes, nodes, 1+rng.IntN(9))
		left := make([]uint64, len(nodes))
		for i, s := range nodes {
			left[i] = s.bytes
		}
		for _, placements := range copies {
			for i, h := range placements {
				if h.inFile {
					continue
				}
				if sizes[i] > left[h.node] {
					t.Fatalf("%v in %v: node %d has more than it has room for", sizes, nodes, h.node)
				}
				left[h.node] -= sizes[i]
			}
		}
		for _, placements := range copies {
			for i, h := range placements {
				if h.inFile && nodes[h.node].cpus == 0 {
					t.Fatalf("%v in %v: far memory searches what it does not have", sizes, nodes)
				}
				for _, room := range left {
					if h.inFile && (len(copies) > 1 || room >= sizes[i]) {
						t.Fatalf("%v in %v: piece %d stays, there is room for it", sizes, nodes, i)
					}
				}
			}
		}
	}
}
