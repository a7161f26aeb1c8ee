package worker

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/numa"
)

// Options configures how to distribute an index over the nodes of a host.
type Options struct {
	Host *numa.Host
	// on each node; default: one for each of its tables and for each of its processors but an
	// eighth
	Workers int
	Direct  bool // no workers: whoever asks searches the [segment.Segment] of each
	// of which the arenas are taken, until the segments are closed; nil: what this machine has left
	Budget *memory.Budget
}

// A Set is an index's workers and the tables that they search. Its methods may be called from any
// goroutine.
type Set struct {
	options Options
	nodes   []*node // as the host lists them

	adding sync.Mutex // held while a segment is added
	mu     sync.Mutex
	open   map[*Segment]bool // that are not closed
}

// A node is a memory node with its workers and what they have.
type node struct {
	host    *numa.Host
	memory  numa.UsableNode
	tables  atomic.Int64
	crew    *numa.Crew[*task] // nil without workers, or tables; guarded by the set's mu where no segment tells
	queries atomic.Uint64
}

// A Segment is a segment of an index whose tables lie on the nodes of a host.
type Segment struct {
	*segment.Segment
	set    *Set
	tables [][]int // by node
	arenas []placed
}

// placed is an arena of a segment on a node.
type placed struct {
	*numa.Arena
	reserved *memory.Reservation
	node     *node
	pages    numa.Placement // where its pages are
}

// New returns a set of nothing.
func New(o Options) *Set {
	o.Budget = o.Budget.OrMachine()
	s := &Set{options: o, open: make(map[*Segment]bool)}
	for _, p := range o.Host.Nodes() {
		s.nodes = append(s.nodes, &node{host: o.Host, memory: p})
	}
	return s
}

// Add copies the tables of the segment in a file to the nodes, while others are searched, and starts workers where
// there are none. The file must stay open. Where there is no room on any node tables stay in it. The error is one of
// reading it, or ctx's. Whoever uses the segment within the result closes it.
func (s *Set) Add(ctx context.Context, f *store.File, of *segment.Segment) (*Segment, error) {
	s.adding.Lock()
	defer s.adding.Unlock()
	sizes := make([]uint64, len(of.Tables()))
	for t := range sizes {
		sizes[t] = arenaBytes(sectionsOf(f, t))
	}
	g := &Segment{set: s, tables: make([][]int, len(s.nodes))}
	s.mu.Lock()
	s.open[g] = true
	s.mu.Unlock()
	if err := g.fill(ctx, f, sizes, assign(sizes, s.rooms())); err != nil {
		g.Close()
		return nil, err
	}
	s.start()
	return g, nil
}

// Direct reports whether there are no workers.
func (s *Set) Direct() bool { return s.options.Direct }

// start starts the workers of the nodes that have tables and no workers.
func (s *Set) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if n.tables.Load() > 0 && n.crew == nil && !s.options.Direct {
			n.start(s.options)
		}
	}
}

// rooms returns what of each node matters for placement, as it is now.
func (s *Set) rooms() []room {
	limit, host := s.options.Budget.Left(), s.options.Host
	rooms := make([]room, len(s.nodes))
	for i, n := range s.nodes {
		rooms[i] = room{cpus: max(len(n.memory.CPUs), 1), bytes: limit, load: s.pagesOn(n).Bytes}
		if n.memory.Borrowed {
			rooms[i].cpus = 0
		}
		if free, err := host.Free(n.memory.ID); err == nil && host.Topology().Known {
			rooms[i].bytes = min(free, limit)
		}
	}
	return rooms
}

// pagesOn returns where the pages of all arenas of a node are.
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

// fill copies the tables, each where its placement says, and opens the segment of them.
func (s *Segment) fill(ctx context.Context, f *store.File, sizes []uint64, placements []placement) (err error) {
	host, moved := s.set.options.Host, make(map[string][]byte)
	for t, at := range placements {
		n := s.set.nodes[at.node]
		n.tables.Add(1)
		s.tables[at.node] = append(s.tables[at.node], t)
		var arena *numa.Arena
		why := fmt.Errorf("no node has room for %d MiB", sizes[t]>>20)
		if !at.inFile {
			arena, why = s.arena(n, sizes[t])
		}
		if why != nil {
			host.Note(fmt.Sprintf("table %d of %s stays in the file: %v", t, f.Path(), why))
			continue
		}
		if err := copySections(ctx, host, arena, sectionsOf(f, t), moved); err != nil {
			return err
		}
		s.counted(arena)
	}
	s.Segment, err = segment.Open(source{f, moved})
	return err
}

// arena reserves and makes an arena on a node, which the segment holds until it is closed.
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
	s.arenas = append(s.arenas, placed{Arena: a, reserved: r, node: n})
	return a, nil
}

// counted notes where the pages of the last arena are, now that they are written.
func (s *Segment) counted(a *numa.Arena) {
	pages := a.Placement()
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	s.arenas[len(s.arenas)-1].pages = pages
}

// Close releases the memory of a segment's tables, and ends
// the workers with the last segment. No request and no sweep may be under way.
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
			n.crew = nil // a segment that is added starts others
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

// A NodeReport is what a node has and what its workers have done.
type NodeReport struct {
	Node      int
	Borrowed  bool // the processors
	Tables    int
	Placement numa.Placement
	Queries   uint64 // that its workers have searched its tables for
	numa.CrewStats
}

// A Report is how an index is distributed over nodes.
type Report struct {
	Nodes []NodeReport
	Notes []string // what could not be had
}

// Report returns what the nodes have, and counts of what the workers have done so far.
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

// workers returns how many a node gets.
func (n *node) workers(configured int) int {
	if configured > 0 {
		return configured
	}
	cpus := len(n.memory.CPUs)
	return max(int(n.tables.Load()), cpus-cpus/8, 1)
}
