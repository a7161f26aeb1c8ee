package live

import (
	"context"
	"slices"

	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
)

// placed puts the tables of opened segments on memory nodes, with workers to search them (package
// worker). The files stay open for the rest.
func placed(ctx context.Context, segments []*Segment, o worker.Options) (*worker.Set, error) {
	parts := make([]worker.Part, len(segments))
	for i, s := range segments {
		parts[i] = worker.Part{File: s.file, Segment: s.Segment}
	}
	set, copies, err := worker.New(ctx, parts, o)
	if err != nil {
		return nil, err
	}
	for i, c := range copies {
		segments[i].Segment.Close()
		segments[i].Segment, segments[i].workers = c.First(), c
	}
	return set, nil
}

// place puts the tables of a segment that was made on memory nodes, as those of the index are.
func (x *Index) place(ctx context.Context, s *Segment) error {
	placed, err := x.workers.Add(ctx, worker.Part{File: s.file, Segment: s.Segment})
	if err != nil {
		return err
	}
	s.Segment.Close()
	s.Segment, s.workers = placed.First(), placed
	return nil
}

// Spread reports how the tables are spread over memory nodes, and what their workers have done; ok
// is false when they are not.
func (x *Index) Spread() (r worker.Report, ok bool) {
	if x.workers == nil {
		return r, false
	}
	return x.workers.Report(), true
}

// Goroutines returns how many goroutines a batch needs to keep so many threads busy: those that
// only wait for workers are twice as many, so that each finds the next task when it has done one.
func (x *Index) Goroutines(threads int) int {
	if x.workers == nil {
		return threads
	}
	return max(threads, 2*x.workers.Workers())
}

// submission is what a search hands to the workers of some segments.
type submission struct {
	request  worker.Request
	segments []*worker.Segment
	numbers  []int // theirs in the version
	matches  []worker.Match
}

// submit hands the queries to the workers of every segment that has some and that no sweep has
// answered. Their search ends as that of the caller does.
func (a *submission) submit(ctx context.Context, v *version, queries []uint64, k, most int, done Swept) {
	a.segments, a.numbers = a.segments[:0], a.numbers[:0]
	for i, s := range v.segments {
		if s.workers != nil && done.of(i) == nil {
			a.segments = append(a.segments, s.workers)
			a.numbers = append(a.numbers, i)
		}
	}
	if len(a.segments) > 0 {
		a.request.Submit(ctx, a.segments, queries, k, most)
	}
}

// wait calls found with each match of what was submitted, and its segment's number.
func (a *submission) wait(found func(segment int, m segment.Match)) (err error) {
	if len(a.segments) == 0 {
		return nil
	}
	a.matches, err = a.request.Wait(a.matches[:0])
	for _, m := range a.matches {
		found(a.numbers[m.Segment], m.Match)
	}
	clear(a.segments) // a pooled searcher keeps no segment that is gone
	return err
}

// Parts returns the segments that are in files. They are valid until the index is closed or merges
// them: unlike calls of the index, who reads them must see to that.
func (x *Index) Parts() (parts []worker.Part) {
	slot := x.slot()
	v, err := x.hold(slot)
	if err != nil {
		return nil
	}
	defer x.release(v, slot)
	for _, s := range v.segments {
		if s.file != nil {
			parts = append(parts, worker.Part{File: s.file, Segment: s.Segment})
		}
	}
	return slices.Clip(parts)
}
