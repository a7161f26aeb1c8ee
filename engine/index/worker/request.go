package worker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"example.org/ndd/engine/index/segment"
	"example.org/ndd/numa"
)

// A Match is one fingerprint that matches a request.
type Match struct {
	Segment int // index among the segments of the request
	segment.Match
}

// A Request is a search of segments of one Set. The set must stay open until [Request.Wait] has returned. The zero
// value is ready, and it may be submitted repeatedly. It is used by one goroutine.
type Request struct {
	segments []*Segment
	queries  []uint64
	k        int
	limit    int
	ctx      context.Context

	tasks []task         // one for each node that has tables of the segments
	left  sync.WaitGroup // unfinished tasks
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
	r.left.Add(len(r.tasks))
	for i := range r.tasks {
		s.nodes[r.tasks[i].node].crew.Post(&r.tasks[i])
	}
}

// Wait waits for the end of the submitted search, and appends the matches to dst in no particular order. If a table
// cannot be read, it returns the error, and the matches are incomplete.
func (r *Request) Wait(dst []Match) (_ []Match, err error) {
	r.left.Wait()
	for i := range r.tasks {
		dst = append(dst, r.tasks[i].matches...)
		err = errors.Join(err, r.tasks[i].err)
	}
	return dst, err
}

// start starts the node's workers.
func (n *node) start(o Options) {
	n.crew = numa.NewCrew(o.Host, n.memory, n.workers(o.Workers), func(bool) func([]*task) {
		w := &searcher{node: n}
		return w.work
	})
}

// A searcher has the scratch memory of one worker.
type searcher struct {
	node    *node
	scratch segment.Scratch
	queries []uint64
	owners  []int32 // for each query, the index of its task
	found   []segment.Match
}

// queriesMax is the maximum number of queries that are searched together. More would not share more misses, and the
// first query would wait for the last.
const queriesMax = 256

// work runs tasks. It combines searches of the same segments for different queries.
func (w *searcher) work(tasks []*task) {
	for len(tasks) > 0 {
		if t := tasks[0]; t.step != nil {
			w.step(t)
			tasks = tasks[1:]
			continue
		}
		n, queries := 1, len(tasks[0].request.queries)
		for n < len(tasks) && tasks[n].like(tasks[0]) && queries+len(tasks[n].request.queries) <= queriesMax {
			queries += len(tasks[n].request.queries)
			n++
		}
		w.search(tasks[:n])
		tasks = tasks[n:]
	}
}

// like reports whether two tasks search the same segments with the same parameters.
func (t *task) like(o *task) bool {
	a, b := t.request, o.request
	return t.step == nil && a.k == b.k && a.limit == b.limit && slices.Equal(a.segments, b.segments)
}

// search runs similar tasks together. If they exceed the limit of matches together, it runs them one by one.
func (w *searcher) search(tasks []*task) {
	err := w.find(tasks)
	alone := len(tasks) > 1 && errors.Is(err, segment.ErrTooMany)
	for i, t := range tasks {
		if t.err = err; alone {
			t.matches = t.matches[:0]
			t.err = w.find(tasks[i : i+1])
		}
		t.request.left.Done()
	}
}

// find searches for similar tasks and assigns the matches to them.
func (w *searcher) find(tasks []*task) (err error) {
	r := tasks[0].request
	queries := w.join(tasks)
	w.node.queries.Add(uint64(len(queries)))
	w.scratch.Until(allContext{r.ctx, tasks})
	defer w.scratch.Until(context.Background())
	w.scratch.AtMost(r.limit * len(tasks))
	for i, g := range r.segments {
		tables := g.tables[tasks[0].node]
		if len(tables) == 0 {
			continue
		}
		if w.found, err = g.SearchTables(w.found[:0], tables, queries, r.k, &w.scratch); err != nil {
			return err
		}
		for _, m := range w.found {
			t := tasks[0]
			if len(tasks) > 1 {
				t = tasks[w.owners[m.Query]]
				m.Query -= w.first(m.Query)
			}
			t.matches = append(t.matches, Match{i, m})
			if r.limit > 0 && len(t.matches) > r.limit {
				return segment.ErrTooMany
			}
		}
	}
	return nil
}

// join returns the queries of all tasks, and records their owners if there are several tasks.
func (w *searcher) join(tasks []*task) []uint64 {
	if len(tasks) == 1 {
		return tasks[0].request.queries
	}
	w.queries, w.owners = w.queries[:0], w.owners[:0]
	for i, t := range tasks {
		w.queries = append(w.queries, t.request.queries...)
		for range t.request.queries {
			w.owners = append(w.owners, int32(i))
		}
	}
	return w.queries
}

// An allContext has ended when the contexts of all tasks have ended: nobody waits for the results.
type allContext struct {
	context.Context
	tasks []*task
}

func (e allContext) Err() (err error) {
	for _, t := range e.tasks {
		if err = t.request.ctx.Err(); err == nil {
			return nil
		}
	}
	return err
}

// first returns the index of the first query of the task that owns query q.
func (w *searcher) first(q int) int {
	first, _ := slices.BinarySearch(w.owners[:q+1], w.owners[q])
	return first
}

// step runs a step of a sweep. The next step is queued after waiting queries.
func (w *searcher) step(t *task) {
	more, err := t.step()
	if more && err == nil {
		w.node.crew.Post(t)
		return
	}
	t.err = err
	t.request.left.Done()
}

// Sweep is like [segment.Segment.Sweep], but the workers run it.
func (s *Segment) Sweep(ctx context.Context, queries []uint64, k, limit int) (*segment.Found, error) {
	var teams []segment.Team
	for i, tables := range s.tables {
		if n := s.set.nodes[i]; len(tables) > 0 {
			teams = append(teams, segment.Team{Tables: tables, Threads: int(n.crew.Stats().Workers), Run: n.run})
		}
	}
	return s.SweepTeams(ctx, queries, k, limit, teams)
}

// run runs the steps of a sweep by the workers of the node.
func (n *node) run(_ context.Context, steps []segment.Step) (err error) {
	r := &Request{tasks: make([]task, len(steps))}
	r.left.Add(len(steps))
	for i, step := range steps {
		r.tasks[i] = task{request: r, step: step}
		n.crew.Post(&r.tasks[i])
	}
	r.left.Wait()
	for i := range r.tasks {
		err = cmp.Or(err, r.tasks[i].err)
	}
	return err
}
