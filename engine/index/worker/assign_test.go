package worker

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestAssign(t *testing.T) {
	const none = ^uint64(0)
	near := func(rooms ...uint64) (nodes []nodeRoom) {
		for _, r := range rooms {
			nodes = append(nodes, nodeRoom{cpus: 4, bytes: r})
		}
		return nodes
	}
	for _, c := range []struct {
		name  string
		sizes []uint64
		nodes []nodeRoom
		want  string
	}{
		{"one node", []uint64{5, 5}, near(none), "[0 0]"},
		{"one each", []uint64{5, 5}, near(none, none), "[0 1]"},
		{"by size", []uint64{1, 2, 3, 10}, near(none, none), "[1 1 1 0]"},
		{"no room for the largest", []uint64{4, 10}, near(5, 20), "[0 1]"},
		{"twice the processors", []uint64{3, 3, 3}, []nodeRoom{{cpus: 8, bytes: none}, {cpus: 4, bytes: none}}, "[0 0 1]"},
		{"far memory last", []uint64{5, 5, 5}, []nodeRoom{{cpus: 4, bytes: 10}, {bytes: 100}}, "[0 0 1]"},
		{"far memory never first", []uint64{5}, []nodeRoom{{bytes: 100}, {cpus: 4, bytes: 10}}, "[1]"},
		{"no room at all", []uint64{5, 5, 5}, near(5, 5), "[0 1 0!]"},
		{"no piece", nil, near(1), "[]"},
	} {
		list := []string{}
		for _, h := range assign(c.sizes, c.nodes) {
			text := fmt.Sprint(h.node)
			if h.inFile {
				text += "!"
			}
			list = append(list, text)
		}
		if got := fmt.Sprint(list); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestAssignFits tests random tables and nodes. No node exceeds its space, and a table stays in its file only if it
// fits on no node.
func TestAssignFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 1))
	for range 5000 {
		sizes := make([]uint64, 1+rng.IntN(12))
		for i := range sizes {
			sizes[i] = 1 + rng.Uint64N(20)
		}
		nodes := make([]nodeRoom, 1+rng.IntN(8))
		for i := range nodes {
			nodes[i] = nodeRoom{cpus: rng.IntN(4), bytes: rng.Uint64N(80)}
		}
		nodes[rng.IntN(len(nodes))].cpus = 1
		remaining := make([]uint64, len(nodes))
		for i, s := range nodes {
			remaining[i] = s.bytes
		}
		before := fmt.Sprint(nodes)
		placements := assign(sizes, nodes)
		for i, h := range placements {
			if h.inFile {
				continue
			}
			if sizes[i] > remaining[h.node] {
				t.Fatalf("%v in %v: node %d has more than it has room for", sizes, before, h.node)
			}
			remaining[h.node] -= sizes[i]
		}
		for i, h := range placements {
			if h.inFile && nodes[h.node].cpus == 0 {
				t.Fatalf("%v in %v: far memory searches what it does not have", sizes, before)
			}
			for _, room := range remaining {
				if h.inFile && room >= sizes[i] {
					t.Fatalf("%v in %v: table %d stays, there is room for it", sizes, before, i)
				}
			}
		}
	}
}
