package numa

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// The tests below change their machine, so they run in the lab only (lab/run).

// lab returns the name of the machine of the lab that runs the test. On any other machine the test ends.
func lab(t *testing.T) (machine string) {
	t.Helper()
	line, _ := os.ReadFile("/proc/cmdline") // without this file, this is not the lab
	for _, word := range strings.Fields(string(line)) {
		if name, ok := strings.CutPrefix(word, "ndd.lab="); ok {
			return name
		}
	}
	t.Skip("needs a machine of the lab: numa/lab/run boots one, and .ci/run runs this there")
	return ""
}

// set writes a file of the kernel, and restores its content at the end of the test.
func set(t *testing.T, path, value string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(value), 0)
	}
	must.Do(t, err)
	t.Cleanup(func() {
		must.Do(t, os.WriteFile(path, before, 0))
	})
}

// TestLabNodes checks that the description equals the configuration of the machine: nodes, distances, and which nodes
// have memory and processors. In the odd configuration, node 1 has no memory and is nearest to 2, and node 3 has no
// processors and is nearest to 0. (The kernel numbers nodes without processors last.)
func TestLabNodes(t *testing.T) {
	type node struct {
		node, distance int // distance from node 0
		cpus           string
	}
	machine := lab(t)
	want := map[string][]node{
		"1": {{0, 10, "0"}},
		"2": {{0, 10, "0"}, {1, 21, "1"}},
		"4": {{0, 10, "0"}, {1, 12, "1"}, {2, 21, "2"}, {3, 21, "3"}},
		"8": {{0, 10, "0"}, {1, 16, "1"}, {2, 16, "2"}, {3, 16, "3"}, {4, 24, "4"}, {5, 24, "5"}, {6, 24, "6"},
			{7, 24, "7"}},
		"odd": {{0, 10, "0"}, {2, 21, "1-2"}, {3, 17, "0"}},
	}[machine]
	h := New(Options{})
	var got []node
	for _, p := range h.Nodes() {
		got = append(got, node{p.ID, p.Distances[0], ranges(p.CPUs)})
	}
	if !slices.Equal(got, want) || len(h.Notes()) > 0 {
		t.Errorf("machine %s: %v, want %v; %q", machine, got, want, h.Notes())
	}
}

// TestLabPlacement allocates an arena and pins workers on every node at the same time. Every page is on its node, every
// worker is on a processor of its node, and nothing is omitted.
func TestLabPlacement(t *testing.T) {
	lab(t)
	h := New(Options{})
	var all sync.WaitGroup
	for _, p := range h.Nodes() {
		all.Go(func() {
			const bytes = 20*hugeBytes + 5*pageBytes + 1
			a, err := h.Arena(p, bytes)
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Free()
			clear(a.Data) // the memory is taken when it is written
			where := placement(t, a)
			if !a.Bound || where.Sampled != where.Pages || where.Local != where.Pages || where.Pages != bytes/pageBytes+1 {
				t.Errorf("bound %t, %v: %d pages, %d asked for, %d there, %d missing", a.Bound, where, where.Pages, where.Sampled,
					where.Local, where.Missing)
			}
			c := NewCrew(h, p, 2, func(pinned bool) func(int) {
				return func(int) {
					cpu, node, err := thisCPU()
					// Processors of a node without memory work for another node; the description of the node must still
					// be right.
					_, wrong := os.Stat(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/node%d", cpu, node))
					if err != nil || wrong != nil || !pinned || !slices.Contains(p.CPUs, cpu) {
						t.Errorf("node %d of processors %v: a worker, pinned %t, is on processor %d of node %d: %v, %v", p.ID, p.CPUs,
							pinned, cpu, node, err, wrong)
					}
				}
			})
			for i := range 100 {
				c.Post(i)
			}
			c.Close()
			if s := c.Stats(); s.Pinned != 2 {
				t.Errorf("%+v", s)
			}
		})
	}
	all.Wait()
	if len(h.Notes()) > 0 {
		t.Errorf("%q", h.Notes())
	}
}

// TestLabFull takes and writes the free memory of a node. A request for more is refused: otherwise the kernel would
// kill the process.
func TestLabFull(t *testing.T) {
	lab(t)
	h := New(Options{})
	nodes := h.Nodes()
	p := nodes[len(nodes)-1]
	free, err := h.Free(p.ID)
	must.Do(t, err)
	if _, err := h.Arena(p, free+64<<20); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	var held []*Arena
	defer func() {
		for _, a := range held {
			a.Free()
		}
	}()
	for size := uint64(32 << 20); ; {
		a, err := h.Arena(p, size)
		if err == nil {
			clear(a.Data) // the memory is taken when it is written
			held = append(held, a)
			continue
		}
		if !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		if size /= 2; size < 1<<20 {
			break
		}
	}
	had := uint64(0)
	for _, a := range held {
		if where := a.Placement(); !whole(where) {
			t.Error(where)
		}
		had += uint64(len(a.Data))
	}
	if had < free/2 {
		t.Errorf("only %d MiB of %d were given", had>>20, free>>20)
	}
}

// farthest is the last node with processors of its own.
func farthest(nodes []UsableNode) UsableNode {
	for _, p := range slices.Backward(nodes) {
		if !p.Borrowed {
			return p
		}
	}
	panic("no node has processors")
}

// TestLabCpuset takes nodes away from the process while it runs. Existing workers and arenas continue, new ones are not
// bound or pinned, and one message reports each.
func TestLabCpuset(t *testing.T) {
	lab(t)
	h := New(Options{})
	nodes := h.Nodes()
	if len(nodes) == 1 {
		return // the process has only one node
	}
	last := farthest(nodes)
	before, err := h.Arena(last, 2*hugeBytes)
	must.Do(t, err)
	defer before.Free()

	const group = "/sys/fs/cgroup/lab"
	set(t, "/sys/fs/cgroup/cgroup.subtree_control", "+cpuset")
	must.Do(t, os.Mkdir(group, 0o755))
	t.Cleanup(func() { // all threads must leave the group before it can be removed
		must.Do(t, errors.Join(os.WriteFile("/sys/fs/cgroup/cgroup.procs", []byte("0"), 0), os.Remove(group)))
		os.WriteFile("/sys/fs/cgroup/cgroup.subtree_control", []byte("-cpuset"), 0)
	})
	for name, value := range map[string]string{"cpuset.mems": "0", "cpuset.cpus": "0"} {
		must.Do(t, os.WriteFile(filepath.Join(group, name), []byte(value), 0))
	}
	must.Do(t, os.WriteFile(group+"/cgroup.procs", []byte("0"), 0))

	after, err := h.Arena(last, 2*hugeBytes)
	must.Do(t, err)
	clear(after.Data)
	if after.Bound || after.Placement().Local > 0 || !said(h, "mbind: invalid argument") {
		t.Errorf("bound %t, %v; %q", after.Bound, after.Placement(), h.Notes())
	}
	useArena(t, after, 2*hugeBytes)
	s := useCrew(t, h, last, 2)
	if s.Pinned > 0 || !said(h, "sched_setaffinity: invalid argument") {
		t.Errorf("%+v; %q", s, h.Notes())
	}
	clear(before.Data) // the memory is still valid
	if got := New(Options{}).Nodes(); len(got) != 1 || got[0].ID != 0 {
		t.Errorf("what may be used now: %v", got)
	}
}

// TestLabOffline turns a processor off. A new host does not have it, and a worker of the old host runs on another one.
func TestLabOffline(t *testing.T) {
	lab(t)
	h := New(Options{})
	nodes := h.Nodes()
	last := farthest(nodes)
	if len(nodes) == 1 {
		return // it is the only processor
	}
	for _, cpu := range last.CPUs {
		set(t, fmt.Sprintf("/sys/devices/system/cpu/cpu%d/online", cpu), "0")
	}
	s := useCrew(t, h, last, 2)
	if s.Pinned > 0 {
		t.Errorf("%+v", s)
	}
	for _, p := range New(Options{}).Nodes() {
		for _, cpu := range last.CPUs {
			if slices.Contains(p.CPUs, cpu) {
				t.Errorf("node %d has processors %v", p.ID, p.CPUs)
			}
		}
		if p.ID == last.ID && !p.Borrowed {
			t.Errorf("node %d has none of its own any more: %+v", p.ID, p)
		}
	}
}
