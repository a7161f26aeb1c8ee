package worker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"example.org/ndd/engine/index/segment"
)

// A Match is one fingerprint that matches a request.
type Match struct {
	Segment int // index among the segments of the request
	segment.Match
}

// QueriesMin is the minimum number of queries that workers search. A caller searches fewer itself, on all nodes:
// passing a task takes 15 to 25 us, a query 1 to 2 us, and half as long again if its tables are on another node.
const QueriesMin = 32

// A Request is a search of segments of one Set. The set must stay open until [Request.Wait] has returned. The zero
// value is ready, and it may be submitted repeatedly. It is used by one goroutine.
type Request struct {
	segments []*Segment
	queries  []uint64
	k        int
	limit    int
	ctx      context.Context

	tasks []task         // one for each node that has tables of the segments
	group sync.WaitGroup // unfinished tasks
}

// A task is the part of a request for one node, or a step of a sweep.
type task struct {
	request *Request
	node    int
	matches []Match
	step    segment.Step
	err     error
}

// Submit starts a search of segments for all matches within distance k of queries, and does not wait. queries must
// not change until [Request.Wait] has returned. The search fails with the error of ctx when ctx ends. It fails with
// [segment.ErrTooMany] if limit is not 0 and a node finds more matches than limit in a segment.
func (r *Request) Submit(ctx context.Context, segments []*Segment, queries []uint64, k, limit int) {
	s := segments[0].set
	r.segments, r.queries, r.k, r.limit, r.ctx = segments, queries, k, limit, ctx
	if cap(r.tasks) < len(s.nodes) {
		r.tasks = make([]task, len(s.nodes))
	}
	r.tasks = r.tasks[:0]
	for i := range s.nodes {
		if slices.ContainsFunc(segments, func(g *Segment) bool { return len(g.tables[i]) > 0 }) {
			r.tasks = r.tasks[:len(r.tasks)+1]
			t := &r.tasks[len(r.tasks)-1]
			*t = task{request: r, node: i, matches: t.matches[:0]}
		}
	}
	r.group.Add(len(r.tasks))
	for i := range r.tasks {
		s.nodes[r.tasks[i].node].crew.Post(&r.tasks[i])
	}
}

// Wait waits for the end of the submitted search, and appends the matches to dst in no particular order. If a table
// cannot be read, it returns the error, and the matches are incomplete.
func (r *Request) Wait(dst []Match) (_ []Match, err error) {
	r.group.Wait()
	for i := range r.tasks {
		dst = append(dst, r.tasks[i].matches...)
		err = errors.Join(err, r.tasks[i].err)
	}
	return dst, err
}

// A searcher has the scratch memory of one worker.
type searcher struct {
	node    *node
	scratch segment.Scratch
	matches []segment.Match
}

// work runs a task.
func (w *searcher) work(t *task) {
	if t.step != nil {
		w.step(t)
		return
	}
	t.err = w.find(t)
	t.request.group.Done()
}

// find searches for a task.
func (w *searcher) find(t *task) (err error) {
	r := t.request
	w.node.queries.Add(uint64(len(r.queries)))
	w.scratch.SetContext(r.ctx)
	defer w.scratch.SetContext(context.Background())
	w.scratch.LimitMatches(r.limit)
	for i, g := range r.segments {
		tables := g.tables[t.node]
		if len(tables) == 0 {
			continue
		}
		if w.matches, err = g.SearchTables(w.matches[:0], tables, r.queries, r.k, &w.scratch); err != nil {
			return err
		}
		for _, m := range w.matches {
			t.matches = append(t.matches, Match{i, m})
		}
		if r.limit > 0 && len(t.matches) > r.limit {
			return segment.ErrTooMany
		}
	}
	return nil
}

// step runs a step of a sweep. The next step is queued after waiting queries.
func (w *searcher) step(t *task) {
	ok, err := t.step()
	if ok && err == nil {
		w.node.crew.Post(t)
		return
	}
	t.err = err
	t.request.group.Done()
}

// Sweep is like [segment.Segment.Sweep], but the workers run it.
func (s *Segment) Sweep(ctx context.Context, queries []uint64, k, limit int) (*segment.MatchLists, error) {
	var teams []segment.Team
	for i, tables := range s.tables {
		if n := s.set.nodes[i]; len(tables) > 0 {
			teams = append(teams, segment.Team{Tables: tables, Threads: int(n.crew.Stats().Workers), Run: n.run})
		}
	}
	return s.Segment.Sweep(ctx, queries, k, limit, teams)
}

// run runs the steps of a sweep by the workers of the node.
func (n *node) run(_ context.Context, steps []segment.Step) (err error) {
	r := &Request{tasks: make([]task, len(steps))}
	r.group.Add(len(steps))
	for i, step := range steps {
		r.tasks[i] = task{request: r, step: step}
		n.crew.Post(&r.tasks[i])
	}
	r.group.Wait()
	for i := range r.tasks {
		err = cmp.Or(err, r.tasks[i].err)
	}
	return err
}
