package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A Permission is the part of the host that the system lets a process use, by its affinity and its cpuset.
type Permission struct {
	CPUs  []int // nil if unknown
	Nodes []int // memory nodes; nil if unknown
}

// readPermission reads what this process may use, from the files below root. It reads the mask of the first thread,
// which no worker changes.
func readPermission(root fs.FS) (a Permission, err error) {
	status, err := fs.ReadFile(root, "proc/self/status")
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		list := map[string]*[]int{"Cpus_allowed_list": &a.CPUs, "Mems_allowed_list": &a.Nodes}[name]
		if list == nil {
			continue
		}
		if *list, err = parseList(value); err != nil {
			return Permission{}, fmt.Errorf("proc/self/status: %s: %w", name, err)
		}
	}
	return a, nil
}

// A UsableNode is a node with memory that this process may use, and with the processors that work on it.
type UsableNode struct {
	ID          int // ID of the Node
	MemoryBytes uint64
	CPUs        []int // ascending; empty if no processor is known
	Distances   []int // distances of the Node
	Borrowed    bool  // the node has no processors, so the processors of the nearest node work on it
}

// Usable returns the nodes with memory that the process may use, ascending by ID. Each processor belongs to its own
// node or, if that has no usable memory, to the nearest node that has.
func (t Topology) Usable(a Permission) []UsableNode {
	// usable returns the processors of a node that the process may use.
	usable := func(cpus []int) []int {
		switch {
		case a.CPUs == nil:
			return cpus
		case !t.Known:
			return a.CPUs // the processors of the host are only a guess
		}
		return slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool {
			_, ok := slices.BinarySearch(a.CPUs, cpu)
			return !ok
		})
	}
	// Collect the nodes with usable memory.
	var nodes []UsableNode
	var indexes []int // indexes in t.Nodes
	for i, n := range t.Nodes {
		if t.Known && n.MemoryBytes == 0 || a.Nodes != nil && t.Known && !slices.Contains(a.Nodes, n.ID) {
			continue
		}
		nodes = append(nodes, UsableNode{ID: n.ID, MemoryBytes: n.MemoryBytes, Distances: n.Distances})
		indexes = append(indexes, i)
	}
	// Assign the processors of each node to the nearest usable node.
	for i, n := range t.Nodes {
		cpus := usable(n.CPUs)
		if len(cpus) == 0 || len(nodes) == 0 {
			continue
		}
		nearest := 0
		for j := range nodes {
			if t.distance(i, indexes[j]) < t.distance(i, indexes[nearest]) {
				nearest = j
			}
		}
		nodes[nearest].CPUs = append(nodes[nearest].CPUs, cpus...)
	}
	// A node without processors borrows the processors of the nearest node.
	for i := range nodes {
		p := &nodes[i]
		slices.Sort(p.CPUs)
		if len(p.CPUs) > 0 {
			continue
		}
		p.Borrowed = true
		nearest := -1
		for j, n := range t.Nodes {
			if cpus := usable(n.CPUs); len(cpus) > 0 && (nearest < 0 || t.distance(indexes[i], j) < t.distance(indexes[i], nearest)) {
				p.CPUs, nearest = cpus, j
			}
		}
	}
	return nodes
}

// distance returns the distance of two nodes, given by their indexes.
func (t Topology) distance(i, j int) int {
	if d := t.Nodes[i].Distances; j < len(d) {
		return d[j]
	}
	if i == j {
		return 10
	}
	return 20
}
