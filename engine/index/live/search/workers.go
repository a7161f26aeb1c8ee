package search

import (
	"context"

	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
)

// submission is what a search hands to the workers of some segments.
type submission struct {
	request  worker.Request
	segments []*worker.Segment
	numbers  []int // theirs in the version
	matches  []worker.Match
}

// submit hands the queries to the workers of every segment that has some and that no sweep has
// answered. Their search ends as that of the caller does.
func (a *submission) submit(ctx context.Context, v *version.Version, queries []uint64, k, most int, done Swept) {
	a.segments, a.numbers = a.segments[:0], a.numbers[:0]
	for i, s := range v.Segments {
		if s.Workers != nil && done.of(i) == nil {
			a.segments = append(a.segments, s.Workers)
			a.numbers = append(a.numbers, i)
		}
	}
	if len(a.segments) > 0 {
		a.request.Submit(ctx, a.segments, queries, k, most)
	}
}

// wait calls found with each match of the submitted queries, and its segment's number.
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
