package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// A Node is a memory node.
type Node struct {
	ID          int
	CPUs        []int // ascending; empty for a node without processors
	MemoryBytes uint64
	Distances   []int // distances to all nodes of the Topology, in its order; 10 is the node itself
}

// A Topology describes the nodes of a host, ascending by ID.
type Topology struct {
	Nodes []Node
	// Known is false if the host does not report its nodes. Nodes then has one node for the whole host.
	Known bool
}

const nodeDir = "sys/devices/system/node"

// single returns a host of one node with cpus processors.
func single(cpus int) Topology {
	return Topology{Nodes: []Node{{CPUs: count(cpus), Distances: []int{10}}}}
}

// read reads the topology below root, which is os.DirFS("/") on a real host. It fails only if a file exists but is
// invalid. With an error, and for a host that does not report its nodes, it returns single.
func read(root fs.FS, single Topology) (Topology, error) {
	online, err := fs.ReadFile(root, nodeDir+"/online")
	if errors.Is(err, fs.ErrNotExist) {
		return single, nil
	}
	if err != nil {
		return single, err
	}
	ids, err := parseList(string(online))
	if err == nil && len(ids) == 0 {
		err = errors.New("no node")
	}
	if err != nil {
		return single, fmt.Errorf("%s/online: %w", nodeDir, err)
	}
	t := Topology{Known: true}
	for _, id := range ids {
		n, err := readNode(root, id, len(ids))
		if err != nil {
			return single, err
		}
		t.Nodes = append(t.Nodes, n)
	}
	return t, nil
}

func readNode(root fs.FS, id, nodes int) (Node, error) {
	n := Node{ID: id}
	dir := fmt.Sprintf("%s/node%d", nodeDir, id)
	// The processors must be known; the distances and the memory need not.
	cpus, err := fs.ReadFile(root, dir+"/cpulist")
	if err != nil {
		return n, err
	}
	if n.CPUs, err = parseList(string(cpus)); err != nil {
		return n, fmt.Errorf("%s/cpulist: %w", dir, err)
	}
	// Read a distance for each node.
	if distance, err := fs.ReadFile(root, dir+"/distance"); err == nil {
		for _, field := range strings.Fields(string(distance)) {
			d, err := strconv.Atoi(field)
			if err != nil || d < 0 {
				return n, fmt.Errorf("%s/distance: %q", dir, distance)
			}
			n.Distances = append(n.Distances, d)
		}
		if len(n.Distances) != nodes {
			return n, fmt.Errorf("%s/distance: %d distances for %d nodes", dir, len(n.Distances), nodes)
		}
	}
	// Read the size of the memory.
	if info, err := fs.ReadFile(root, dir+"/meminfo"); err == nil {
		total, ok := memInfo(string(info))["MemTotal"]
		if !ok {
			return n, fmt.Errorf("%s/meminfo: no MemTotal", dir)
		}
		n.MemoryBytes = total
	}
	return n, nil
}

// cpuMax limits the numbers in a list. The limit of the kernel is 8192.
const cpuMax = 1 << 16

// parseList parses a list of numbers in the form of sysfs: "0-3,8,10-11". The list may be empty.
func parseList(s string) ([]int, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(high)
		}
		if err != nil || first < 0 || last < first || last >= cpuMax {
			return nil, fmt.Errorf("list %.80q: bad range %.20q", s, part)
		}
		for i := first; i <= last; i++ {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

func count(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// String returns a list of the nodes: "2 nodes: 0 (4 processors, 16384 MiB), 2 (...)".
func (t Topology) String() string {
	if !t.Known {
		return fmt.Sprintf("1 node, assumed (%d processors)", len(t.Nodes[0].CPUs))
	}
	list := make([]string, len(t.Nodes))
	for i, n := range t.Nodes {
		list[i] = fmt.Sprintf("%d (%d processors, %d MiB)", n.ID, len(n.CPUs), n.MemoryBytes>>20)
	}
	return joinList("node", list)
}

// joinList returns "2 nodes: a, b".
func joinList(noun string, list []string) string {
	if len(list) > 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s: %s", len(list), noun, strings.Join(list, ", "))
}
