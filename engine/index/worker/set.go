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
	Host      *numa.Host
	Replicate bool // as many copies as there are nodes, or memory for
	// on each node; default: one for each of its tables and for each of its processors but an
	// eighth
	Workers int
	Direct  bool // no workers: whoever waits for a request searches, in the copy that is near
	// of which the arenas are taken, until the segments are closed; nil: what this machine has left
	Budget *memory.Budget
}

// A Part is a segment that is to be distributed, and the file that it is in.
type Part struct {
	File    *store.File
	Segment *segment.Segment
}

// A Set is an index's workers and the copies of its tables that they search. Its methods may be called from any
// goroutine.
type Set struct {
	host   *numa.Host
	budget *memory.Budget
	direct bool
	nodes  []*node // as the host lists them
	near   []int   // of nodes: those with processors of their own
	copies int
	turn   atomic.Uint32 // of copies

	options Options
	adding  sync.Mutex // held while a segment is added
	mu      sync.Mutex
	open    map[*Segment]bool // that are not closed
}

// A node is a memory node with its workers and what they have.
type node struct {
	host    *numa.Host
	memory  numa.UsableNode
	copy    int // whose tables are placed on it, where there are several
	tables  atomic.Int64
	crew    *numa.Crew[*task] // nil without workers, or tables; guarded by the set's mu where no segment tells
	queries atomic.Uint64
}

// A Segment is a segment of an index whose tables lie on the nodes of a host.
type Segment struct {
	set      *Set
	copies   []*segment.Segment
	tables   [][][]int // by copy and node
	arenas   []placed
	reserved []*memory.Reservation // for arenas
}

// placed is an arena of a segment on a node.
type placed struct {
	*numa.Arena
	node  *node
	pages numa.Placement // where its pages are
}

// First returns the first copy, which serves all that is not a search. Whoever uses it closes it.
func (s *Segment) First() *segment.Segment { return s.copies[0] }

// piece is a table of a part.
type piece struct {
	part, table int
	bytes       uint64
}

// New copies the tables of the parts to the nodes of a host, and starts the
// workers. The parts' files must stay open. Where there is no room on any node
// tables stay in their file. The error is one of reading it, or ctx's.
func New(ctx context.Context, parts []Part, o Options) (*Set, []*Segment, error) {
	s := &Set{host: o.Host, budget: o.Budget.Here(), direct: o.Direct, options: o, open: make(map[*Segment]bool)}
	for i, p := range o.Host.Nodes() {
		s.nodes = append(s.nodes, &node{host: o.Host, memory: p})
		if !p.Borrowed {
			s.near = append(s.near, i)
		}
	}
	pieces, sizes := piecesOf(parts)
	most := 1
	if o.Replicate {
		most = len(s.nodes)
	}
	copies := assign(sizes, s.rooms(), s.copiesThatFit(sizes, most))
	s.copies = len(copies)
	if most > 1 && s.copies < len(s.near) {
		s.host.Note(fmt.Sprintf("there is memory for %d copies of the tables, not for one on each of %d nodes", s.copies,
			len(s.near)))
	}
	segments := make([]*Segment, len(parts))
	for i := range parts {
		segments[i] = s.segment()
	}
	for c, placements := range copies {
		for _, i := range s.nodesOf(c) {
			s.nodes[i].copy = c
		}
		if err := s.fill(ctx, c, placements, pieces, parts, segments); err != nil {
			for _, g := range segments {
				g.giveUp()
			}
			return nil, nil, err
		}
	}
	s.start()
	return s, segments, nil
}

// piecesOf returns the tables of parts, and their sizes.
func piecesOf(parts []Part) (pieces []piece, sizes []uint64) {
	for i, p := range parts {
		for t := range p.Segment.Tables() {
			bytes := arenaBytes(sectionsOf(p.File, t))
			pieces, sizes = append(pieces, piece{i, t, bytes}), append(sizes, bytes)
		}
	}
	return pieces, sizes
}

// segment returns a segment of the set, which has nothing yet.
func (s *Set) segment() *Segment {
	g := &Segment{set: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[g] = true
	return g
}

// start starts the workers of the nodes that have tables and no workers.
func (s *Set) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if n.tables.Load() > 0 && n.crew == nil && !s.direct {
			n.start(s.options)
		}
	}
}

// giveUp closes a segment that could not be copied whole, with the copies that it has.
func (s *Segment) giveUp() {
	s.Close()
	for _, copied := range s.copies[:min(1, len(s.copies))] {
		copied.Close()
	}
}

// Add copies the tables of one more part to the nodes, as [New] does with those of an index, while
// others are searched: each to the node of its copy that has least. Where no node has room tables
// stay in their file.
func (s *Set) Add(ctx context.Context, p Part) (*Segment, error) {
	s.adding.Lock()
	defer s.adding.Unlock()
	parts := []Part{p}
	pieces, sizes := piecesOf(parts)
	free := loads{nodes: s.rooms(), load: s.load()}
	g := s.segment()
	for c := range s.copies {
		placements, _ := free.put(sizes, s.nodesOf(c))
		if err := s.fill(ctx, c, placements, pieces, parts, []*Segment{g}); err != nil {
			g.giveUp()
			return nil, err
		}
	}
	s.start()
	return g, nil
}

// load returns how many bytes each node has.
func (s *Set) load() []uint64 {
	load := make([]uint64, len(s.nodes))
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.open {
		for _, a := range g.arenas {
			for i, n := range s.nodes {
				if n == a.node {
					load[i] += a.pages.Bytes
				}
			}
		}
	}
	return load
}

// nodesOf returns the nodes with processors among which a copy is placed, as assign does.
func (s *Set) nodesOf(c int) []int {
	return s.near[c*len(s.near)/s.copies : (c+1)*len(s.near)/s.copies]
}

// rooms returns what of each node matters for placement, as it is now.
func (s *Set) rooms() []room {
	limit := s.budget.Left()
	rooms := make([]room, len(s.nodes))
	for i, n := range s.nodes {
		rooms[i] = room{max(len(n.memory.CPUs), 1), limit}
		if n.memory.Borrowed {
			rooms[i].cpus = 0
		}
		if free, err := s.host.Free(n.memory.ID); err == nil && s.host.Topology().Known {
			rooms[i].bytes = min(free, limit)
		}
	}
	return rooms
}

// copiesThatFit returns how many copies, of those asked for, the process may have memory
// for: a container may have less than its nodes.
func (s *Set) copiesThatFit(sizes []uint64, most int) int {
	sum := uint64(0)
	for _, n := range sizes {
		sum += n
	}
	return int(min(uint64(most), max(s.budget.Left()/max(sum, 1), 1)))
}

// fill makes copy c of the pieces of parts, each where its placement says, and opens the segments of it.
func (s *Set) fill(ctx context.Context, c int, placements []placement, pieces []piece, parts []Part,
	segments []*Segment) error {
	moved := make([]map[string][]byte, len(parts))
	for i := range parts {
		moved[i] = make(map[string][]byte)
		segments[i].tables = append(segments[i].tables, make([][]int, len(s.nodes)))
	}
	for i, p := range pieces {
		n := s.nodes[placements[i].node]
		n.tables.Add(1)
		own := &segments[p.part].tables[c][placements[i].node]
		*own = append(*own, p.table)
		if placements[i].inFile {
			s.noteInFile(parts[p.part], p, fmt.Errorf("no node has room for %d MiB", p.bytes>>20))
			continue
		}
		arena, err := segments[p.part].arena(n, p.bytes)
		if err != nil {
			s.noteInFile(parts[p.part], p, err)
			continue
		}
		if err := copySections(ctx, s.host, arena, sectionsOf(parts[p.part].File, p.table), moved[p.part]); err != nil {
			return err
		}
		segments[p.part].counted(arena)
	}
	for i, p := range parts {
		opened, err := segment.Open(source{p.File, moved[i]})
		if err != nil {
			return err
		}
		segments[i].copies = append(segments[i].copies, opened)
	}
	return nil
}

// arena reserves and makes an arena on a node, which the segment holds until it is closed.
func (s *Segment) arena(n *node, bytes uint64) (*numa.Arena, error) {
	r, err := s.set.budget.Reserve("a copy of it", bytes)
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
	s.arenas, s.reserved = append(s.arenas, placed{Arena: a, node: n}), append(s.reserved, r)
	return a, nil
}

// counted notes where the pages of an arena are, now that they are written.
func (s *Segment) counted(a *numa.Arena) {
	pages := a.Placement()
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	for i := range s.arenas {
		if s.arenas[i].Arena == a {
			s.arenas[i].pages = pages
		}
	}
}

// noteInFile notes why a table is searched where it lies in its file.
func (s *Set) noteInFile(p Part, at piece, why error) {
	s.host.Note(fmt.Sprintf("table %d of %s stays in the file: %v", at.table, p.File.Path(), why))
}

// Close releases a segment's memory, but for the first copy's own, and ends
// the workers with the last segment. No request and no sweep may be under way.
func (s *Segment) Close() {
	for _, c := range s.copies[min(1, len(s.copies)):] {
		c.Close()
	}
	for _, nodes := range s.tables {
		for i, tables := range nodes {
			s.set.nodes[i].tables.Add(-int64(len(tables)))
		}
	}
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	for _, a := range s.arenas {
		a.Free()
	}
	for _, r := range s.reserved {
		r.Release()
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
	CPUs      int
	Borrowed  bool // the processors
	Tables    int  // counted in every copy
	Placement numa.Placement
	Queries   uint64 // that its workers have searched its tables for
	numa.CrewStats
}

// A Report is how an index is distributed over nodes.
type Report struct {
	Copies int
	Nodes  []NodeReport
	Notes  []string // what could not be had
}

// Report returns what the nodes have, and counts of what the workers have done so far.
func (s *Set) Report() Report {
	r := Report{Copies: s.copies, Notes: s.host.Notes()}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		report := NodeReport{Node: n.memory.ID, CPUs: len(n.memory.CPUs), Borrowed: n.memory.Borrowed,
			Tables: int(n.tables.Load()), Placement: numa.Placement{Node: n.memory.ID}, Queries: n.queries.Load()}
		for g := range s.open {
			for _, a := range g.arenas {
				if a.node == n {
					report.Placement.Add(a.pages)
				}
			}
		}
		if n.crew != nil {
			report.CrewStats = n.crew.Stats()
		}
		r.Nodes = append(r.Nodes, report)
	}
	return r
}

// String returns "1 copy of the tables; node 0: 2 tables, 4 workers, 100 MiB, 100.0 % of its pages there; ...".
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cop%s of the tables", r.Copies, map[bool]string{true: "y", false: "ies"}[r.Copies == 1])
	for _, n := range r.Nodes {
		fmt.Fprintf(&b, "; %v, %d tables, %d workers", n.Placement, n.Tables, n.Workers)
		if n.Pinned < n.Workers {
			fmt.Fprintf(&b, " (%d pinned)", n.Pinned)
		}
	}
	return b.String()
}

// workers returns how many a node gets.
func (n *node) workers(configured int) int {
	if configured > 0 {
		return configured
	}
	cpus := len(n.memory.CPUs)
	return max(int(n.tables.Load()), cpus-cpus/8, 1)
}
