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

// Options says how to distribute an index over the nodes of a host.
type Options struct {
	Host      *numa.Host
	Replicate bool           // as many copies as there are nodes, or memory for
	Workers   int            // on each node; default: one for each of its tables and for each of its processors but an eighth
	Direct    bool           // no workers: whoever waits for a request searches, in the copy that is near
	Pages     numa.Pages     // of the arenas
	Budget    *memory.Budget // of which the arenas are taken, until the segments are closed; nil: what this machine has left
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
	copies int
	turn   atomic.Uint32 // of copies

	mu    sync.Mutex
	users int // segments that are not closed
}

// A node is a memory node with its workers and what they have.
type node struct {
	host    *numa.Host
	memory  numa.UsableNode
	copy    int // that it is of; the last one, where it is of several
	tables  int
	crew    *numa.Crew[*task] // nil without workers, or tables
	pages   numa.Placement    // where the pages of its arenas are
	queries atomic.Uint64
}

// A Segment is a segment of an index whose tables lie on the nodes of a host.
type Segment struct {
	set      *Set
	copies   []*segment.Segment
	tables   [][][]int // by copy and node
	arenas   []*numa.Arena
	reserved []*memory.Reservation // for arenas
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
	s := &Set{host: o.Host, budget: o.Budget.Here(), direct: o.Direct, users: len(parts)}
	for _, p := range o.Host.Nodes() {
		s.nodes = append(s.nodes, &node{host: o.Host, memory: p, pages: numa.Placement{Node: p.ID}})
	}
	var pieces []piece
	var sizes []uint64
	for i, p := range parts {
		for t := range p.Segment.Tables() {
			sections := sectionsOf(p.File, t)
			pieces = append(pieces, piece{i, t, arenaBytes(sections)})
			sizes = append(sizes, arenaBytes(sections))
		}
	}
	most := 1
	if o.Replicate {
		most = len(s.nodes)
	}
	copies := assign(sizes, s.rooms(), s.copiesThatFit(sizes, most))
	s.copies = len(copies)
	if most > 1 && s.copies < s.near() {
		s.host.Note(fmt.Sprintf("there is memory for %d copies of the tables, not for one on each of %d nodes", s.copies, s.near()))
	}
	segments := make([]*Segment, len(parts))
	for i := range parts {
		segments[i] = &Segment{set: s}
	}
	for c, placements := range copies {
		if err := s.fill(ctx, c, placements, pieces, parts, segments, o.Pages); err != nil {
			for i := range segments {
				segments[i].Close()
				for _, copied := range segments[i].copies[:min(1, len(segments[i].copies))] {
					copied.Close()
				}
			}
			return nil, nil, err
		}
	}
	for _, n := range s.nodes {
		if n.tables > 0 && !o.Direct {
			n.start(o)
		}
	}
	return s, segments, nil
}

// near returns the number of nodes with processors of their own.
func (s *Set) near() (n int) {
	for _, node := range s.nodes {
		if !node.memory.Borrowed {
			n++
		}
	}
	return n
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

// fill makes copy c.
func (s *Set) fill(ctx context.Context, c int, placements []placement, pieces []piece, parts []Part, segments []*Segment, pages numa.Pages) error {
	moved := make([]map[string][]byte, len(parts))
	for i := range parts {
		moved[i] = make(map[string][]byte)
		segments[i].tables = append(segments[i].tables, make([][]int, len(s.nodes)))
	}
	for i, p := range pieces {
		n := s.nodes[placements[i].node]
		n.tables++
		n.copy = c
		own := &segments[p.part].tables[c][placements[i].node]
		*own = append(*own, p.table)
		if placements[i].inFile {
			s.noteInFile(parts[p.part], p, fmt.Errorf("no node has room for %d MiB", p.bytes>>20))
			continue
		}
		arena, err := segments[p.part].arena(n, p.bytes, pages)
		if err != nil {
			s.noteInFile(parts[p.part], p, err)
			continue
		}
		if err := copySections(ctx, s.host, arena, sectionsOf(parts[p.part].File, p.table), moved[p.part]); err != nil {
			return err
		}
		n.pages.Add(arena.Placement())
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
func (s *Segment) arena(n *node, bytes uint64, pages numa.Pages) (*numa.Arena, error) {
	r, err := s.set.budget.Reserve("a copy of it", bytes)
	if err != nil {
		return nil, err
	}
	a, err := n.host.Arena(n.memory, bytes, pages)
	if err != nil {
		r.Release()
		return nil, err
	}
	s.arenas, s.reserved = append(s.arenas, a), append(s.reserved, r)
	return a, nil
}

// noteInFile says why a table is searched where it lies in its file.
func (s *Set) noteInFile(p Part, at piece, why error) {
	s.host.Note(fmt.Sprintf("table %d of %s stays in the file: %v", at.table, p.File.Path(), why))
}

// Close releases a segment's memory, but for the first copy's own, and ends
// the workers with the last segment. No request and no sweep may be under way.
func (s *Segment) Close() {
	for _, c := range s.copies[min(1, len(s.copies)):] {
		c.Close()
	}
	for _, a := range s.arenas {
		a.Free()
	}
	for _, r := range s.reserved {
		r.Release()
	}
	s.set.mu.Lock()
	s.set.users--
	last := s.set.users == 0
	s.set.mu.Unlock()
	if !last {
		return
	}
	for _, n := range s.set.nodes {
		if n.crew != nil {
			n.crew.Close()
		}
	}
}

// Workers returns the number of workers on all nodes.
func (s *Set) Workers() (sum int) {
	for _, n := range s.nodes {
		if n.crew != nil {
			sum += int(n.crew.Stats().Workers)
		}
	}
	return sum
}

// A NodeReport says what a node has and what its workers have done.
type NodeReport struct {
	Node      int
	CPUs      int
	Borrowed  bool // the processors
	Tables    int  // counted in every copy
	Placement numa.Placement
	Queries   uint64 // that its workers have searched its tables for
	numa.CrewStats
}

// A Report says how an index is distributed over nodes.
type Report struct {
	Copies int
	Nodes  []NodeReport
	Notes  []string // what could not be had
}

// Report returns what the nodes have, and counts of what the workers have done so far.
func (s *Set) Report() Report {
	r := Report{Copies: s.copies, Notes: s.host.Notes()}
	for _, n := range s.nodes {
		report := NodeReport{Node: n.memory.ID, CPUs: len(n.memory.CPUs), Borrowed: n.memory.Borrowed,
			Tables: n.tables, Placement: n.pages, Queries: n.queries.Load()}
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
	return max(n.tables, cpus-cpus/8, 1)
}
