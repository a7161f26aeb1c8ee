package worker

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/numa"
)

// Options configures how to distribute an index over the nodes of a host.
type Options struct {
	Host   *numa.Host
	Direct bool // no workers: callers search the [segment.Segment] themselves
	// Budget limits the memory of the arenas, until the segments are closed. nil: the available memory of this
	// machine.
	Budget *memory.Budget
}

// A Set has the workers of an index and the tables that they search. It is safe for concurrent use.
type Set struct {
	options Options
	nodes   []*node // nodes in the order of the host

	adding sync.Mutex // held while a segment is added
	mu     sync.Mutex
	open   map[*Segment]bool // segments that are not closed
}

// A node is a memory node with its workers and tables.
type node struct {
	host    *numa.Host
	memory  numa.UsableNode
	tables  atomic.Int64
	crew    *numa.Crew[*task] // nil without workers or tables; guarded by the set's mu unless a segment is open
	queries atomic.Uint64
}

// A Segment is a segment of an index whose tables are on the nodes of a host.
type Segment struct {
	*segment.Segment
	set    *Set
	tables [][]int // table numbers by node
	arenas []nodeArena
}

// A nodeArena is an arena of a segment on a node.
type nodeArena struct {
	*numa.Arena
	reserved *memory.Reservation
	node     *node
	pages    numa.Placement // placement of its pages
}

// New returns an empty set.
func New(o Options) *Set {
	o.Budget = o.Budget.OrMachine()
	s := &Set{options: o, open: make(map[*Segment]bool)}
	for _, p := range o.Host.Nodes() {
		s.nodes = append(s.nodes, &node{host: o.Host, memory: p})
	}
	return s
}

// Add copies the tables of the segment in file f to the nodes, and starts workers if there are none. Searches may run
// meanwhile. The file must stay open. Tables without space on any node stay in it. Add fails if the file cannot be
// read or ctx ends. The caller closes the result.
func (s *Set) Add(ctx context.Context, f *store.File, original *segment.Segment) (*Segment, error) {
	s.adding.Lock()
	defer s.adding.Unlock()
	sizes := make([]uint64, len(original.Tables()))
	for t := range sizes {
		sizes[t] = arenaBytes(sectionsOf(f, t))
	}
	g := &Segment{set: s, tables: make([][]int, len(s.nodes))}
	s.mu.Lock()
	s.open[g] = true
	s.mu.Unlock()
	if err := g.fill(ctx, f, sizes, assign(sizes, s.freeNodes())); err != nil {
		g.Close()
		return nil, err
	}
	s.start()
	return g, nil
}

// Direct reports whether callers search the segments themselves, without workers.
func (s *Set) Direct() bool { return s.options.Direct }

// start starts the workers of nodes that have tables but no workers.
func (s *Set) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if n.tables.Load() > 0 && n.crew == nil && !s.options.Direct {
			n.crew = numa.NewCrew(s.options.Host, n.memory, n.workers(), func(bool) func(*task) {
				return (&searcher{node: n}).work
			})
		}
	}
}

// freeNodes returns the current figures of each node for assign.
func (s *Set) freeNodes() []nodeRoom {
	limit, host := s.options.Budget.Free(), s.options.Host
	rooms := make([]nodeRoom, len(s.nodes))
	for i, n := range s.nodes {
		rooms[i] = nodeRoom{cpus: max(len(n.memory.CPUs), 1), bytes: limit, load: s.pagesOn(n).Bytes}
		if n.memory.Borrowed {
			rooms[i].cpus = 0
		}
		if free, err := host.Free(n.memory.ID); err == nil && host.Topology().Known {
			rooms[i].bytes = min(free, limit)
		}
	}
	return rooms
}

// pagesOn returns the placement of all arenas of a node.
func (s *Set) pagesOn(n *node) numa.Placement {
	pages := numa.Placement{Node: n.memory.ID}
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.open {
		for _, a := range g.arenas {
			if a.node == n {
				pages.Add(a.pages)
			}
		}
	}
	return pages
}

// fill copies each table to its node, and opens the segment.
func (s *Segment) fill(ctx context.Context, f *store.File, sizes []uint64, placements []placement) (err error) {
	host, copies := s.set.options.Host, make(map[string][]byte)
	for t, placement := range placements {
		n := s.set.nodes[placement.node]
		n.tables.Add(1)
		s.tables[placement.node] = append(s.tables[placement.node], t)
		var arena *numa.Arena
		reason := fmt.Errorf("no node has %d MiB of free memory", sizes[t]>>20)
		if !placement.inFile {
			arena, reason = s.arena(n, sizes[t])
		}
		if reason != nil {
			host.Note(fmt.Sprintf("table %d of %s stays in the file: %v", t, f.Path(), reason))
			continue
		}
		if err := copySections(ctx, host, arena, sectionsOf(f, t), copies); err != nil {
			return err
		}
		pages := arena.Placement()
		s.set.mu.Lock()
		s.arenas[len(s.arenas)-1].pages = pages
		s.set.mu.Unlock()
	}
	s.Segment, err = segment.Open(source{f, copies})
	return err
}

// arena reserves and allocates an arena on a node. The segment holds it until Close.
func (s *Segment) arena(n *node, bytes uint64) (*numa.Arena, error) {
	r, err := s.set.options.Budget.Reserve("a copy of it", bytes)
	if err != nil {
		return nil, err
	}
	a, err := n.host.Arena(n.memory, bytes)
	if err != nil {
		r.Release()
		return nil, err
	}
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	s.arenas = append(s.arenas, nodeArena{Arena: a, reserved: r, node: n})
	return a, nil
}

// Close releases the memory of a segment's tables. Closing the last segment stops the workers. No request and no
// sweep may be running.
func (s *Segment) Close() {
	for i, tables := range s.tables {
		s.set.nodes[i].tables.Add(-int64(len(tables)))
	}
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	for _, a := range s.arenas {
		a.Free()
		a.reserved.Release()
	}
	delete(s.set.open, s)
	if len(s.set.open) > 0 {
		return
	}
	for _, n := range s.set.nodes {
		if n.crew != nil {
			n.crew.Close()
			n.crew = nil // the next added segment starts new ones
		}
	}
}

// Workers returns the number of workers on all nodes.
func (s *Set) Workers() (sum int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if n.crew != nil {
			sum += int(n.crew.Stats().Workers)
		}
	}
	return sum
}

// A NodeReport describes the memory of a node and the work of its workers.
type NodeReport struct {
	Node      int
	Borrowed  bool // the processors belong to another node
	Tables    int
	Placement numa.Placement
	Queries   uint64 // number of queries that its workers have searched
	numa.CrewStats
}

// A Report describes the distribution of an index over nodes.
type Report struct {
	Nodes []NodeReport
	Notes []string // unavailable features
}

// Report returns the current state of the nodes and the counts of their workers.
func (s *Set) Report() Report {
	r := Report{Notes: s.options.Host.Notes()}
	for _, n := range s.nodes {
		report := NodeReport{Node: n.memory.ID, Borrowed: n.memory.Borrowed,
			Tables: int(n.tables.Load()), Placement: s.pagesOn(n), Queries: n.queries.Load()}
		s.mu.Lock()
		if n.crew != nil {
			report.CrewStats = n.crew.Stats()
		}
		s.mu.Unlock()
		r.Nodes = append(r.Nodes, report)
	}
	return r
}

// String returns "node 0: 100 MiB, 100.0 % of its pages there, 2 tables, 4 workers; node 1: ...".
func (r Report) String() string {
	list := make([]string, len(r.Nodes))
	for i, n := range r.Nodes {
		list[i] = fmt.Sprintf("%v, %d tables, %d workers", n.Placement, n.Tables, n.Workers)
		if n.Pinned < n.Workers {
			list[i] += fmt.Sprintf(" (%d pinned)", n.Pinned)
		}
	}
	return strings.Join(list, "; ")
}

// workers returns the number of workers for the node: the number of its tables, or 7/8 of its processors if these are
// more.
func (n *node) workers() int {
	cpus := len(n.memory.CPUs)
	return max(int(n.tables.Load()), cpus-cpus/8, 1)
}
