package engine

import (
	"context"

	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
)

// spread puts the opened segments' tables on memory nodes, with workers to
// search them (package worker). The files stay open for the rest.
func (x *opening) spread(ctx context.Context, o worker.Options) error {
	parts := make([]worker.Part, len(x.files))
	for i, f := range x.files {
		parts[i] = worker.Part{File: f, Segment: x.segments[i].Segment}
	}
	set, segments, err := worker.New(ctx, parts, o)
	if err != nil {
		return err
	}
	x.workers = set
	for i, s := range segments {
		p := x.segments[i]
		p.Segment.Close()
		closeFile := p.free
		p.Segment, p.workers = s.First(), s
		p.free = func() error {
			s.Close()
			return closeFile()
		}
	}
	return nil
}

// Spread says how the tables are spread over memory nodes, and what their
// workers have done; ok is false when they are not.
func (x *Index) Spread() (r worker.Report, ok bool) {
	if x.workers == nil {
		return r, false
	}
	return x.workers.Report(), true
}

// asking is what a search asks of workers.
type asking struct {
	request  worker.Request
	segments []*worker.Segment
	numbers  []int // theirs in the version
	matches  []worker.Match
}

// ask hands the queries to the workers of every segment that has some and that
// no sweep has answered.
func (a *asking) ask(v *version, queries []uint64, k int, done swept) {
	a.segments, a.numbers = a.segments[:0], a.numbers[:0]
	for i, s := range v.segments {
		if s.workers != nil && done.of(i) == nil {
			a.segments = append(a.segments, s.workers)
			a.numbers = append(a.numbers, i)
		}
	}
	if len(a.segments) > 0 {
		a.request.Ask(a.segments, queries, k)
	}
}

// wait calls found with each match of what was asked, and its segment's number.
func (a *asking) wait(found func(segment int, m segment.Match)) (err error) {
	if len(a.segments) == 0 {
		return nil
	}
	a.matches, err = a.request.Wait(a.matches[:0])
	for _, m := range a.matches {
		found(a.numbers[m.Segment], m.Match)
	}
	return err
}

// sweep is [segment.Segment.Sweep], by the workers where there are some.
func (p *placed) sweep(ctx context.Context, queries []uint64, k, threads, limit int) (*segment.Found, error) {
	if p.workers != nil {
		return p.workers.Sweep(ctx, queries, k, threads, limit)
	}
	return p.Segment.Sweep(ctx, queries, k, threads, limit)
}

// askers is how many goroutines a batch needs: those who only wait for workers
// are twice as many, so that each finds the next task when it has done one.
func (x *Index) askers(threads int) int {
	if x.workers == nil {
		return threads
	}
	return max(threads, 2*x.workers.Workers())
}
