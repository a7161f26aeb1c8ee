package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Allowed is what the system lets a process use: its affinity, and what its
// cpuset leaves of the host.
type Allowed struct {
	CPUs  []int // nil when it does not say
	Nodes []int // of memory; nil when it does not say
}

// readAllowed reads what this process may use below root: what its first thread
// may, which no worker pins.
func readAllowed(root fs.FS) (a Allowed, err error) {
	status, err := fs.ReadFile(root, "proc/self/status")
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		list := &a.CPUs
		switch name {
		default:
			continue
		case "Cpus_allowed_list":
		case "Mems_allowed_list":
			list = &a.Nodes
		}
		if *list, err = parseList(value); err != nil {
			return Allowed{}, fmt.Errorf("proc/self/status: %s: %w", name, err)
		}
	}
	return a, nil
}

// A UsableNode is a node with memory that this process may use, and the processors
// that work on it.
type UsableNode struct {
	ID          int // of the Node
	MemoryBytes uint64
	CPUs        []int // ascending; empty when no processor is known
	Distances   []int // of the Node
	Borrowed    bool  // the processors are those of the nearest node that has some: this memory is far from everyone
}

// Usable returns the nodes where a process may put memory and work, ascending by ID: those
// that have memory, with their processors and those of the nodes without memory
// to which they are the nearest.
func (t Topology) Usable(a Allowed) []UsableNode {
	usable := func(cpus []int) []int {
		switch {
		case a.CPUs == nil:
			return cpus
		case !t.Known:
			return a.CPUs // those of the host are a guess
		}
		return slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool {
			_, ok := slices.BinarySearch(a.CPUs, cpu)
			return !ok
		})
	}
	var nodes []UsableNode
	var at []int // in t.Nodes
	for i, n := range t.Nodes {
		if t.Known && n.MemoryBytes == 0 || a.Nodes != nil && t.Known && !slices.Contains(a.Nodes, n.ID) {
			continue
		}
		nodes = append(nodes, UsableNode{ID: n.ID, MemoryBytes: n.MemoryBytes, Distances: n.Distances})
		at = append(at, i)
	}
	for i, n := range t.Nodes {
		cpus := usable(n.CPUs)
		if len(cpus) == 0 || len(nodes) == 0 {
			continue
		}
		best := 0
		for j := range nodes {
			if t.distance(i, at[j]) < t.distance(i, at[best]) {
				best = j
			}
		}
		nodes[best].CPUs = append(nodes[best].CPUs, cpus...)
	}
	for i := range nodes {
		p := &nodes[i]
		slices.Sort(p.CPUs)
		if len(p.CPUs) > 0 {
			continue
		}
		p.Borrowed = true
		least := -1
		for j, n := range t.Nodes {
			if cpus := usable(n.CPUs); len(cpus) > 0 && (least < 0 || t.distance(at[i], j) < t.distance(at[i], least)) {
				p.CPUs, least = cpus, j
			}
		}
	}
	return nodes
}

// distance returns the distance of nodes i and j, by position.
func (t Topology) distance(i, j int) int {
	if d := t.Nodes[i].Distances; j < len(d) {
		return d[j]
	}
	if i == j {
		return 10
	}
	return 20
}
