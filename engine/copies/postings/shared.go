package postings

import (
	"cmp"
	"context"
	"slices"
)

// shared are the signatures that several documents have, with the ranks of these.
type shared struct {
	segments []segment
	ranks    *numbers // by partition
}

// A segment is a class of a partition.
type segment struct {
	class
	list     int    // of shared.ranks
	from, to uint64 // in the list
}

// shared finds the signatures that several of the documents have, partition by partition.
func (b *Builder) shared(ctx context.Context, docs []uint32, p *partitioning, o *Options) (s *shared, err error) {
	s = &shared{ranks: &numbers{room: b.scratch(o.share(resultShare))}}
	defer func() {
		if err != nil {
			s.ranks.close()
		}
	}()
	scatter := newScatter(b.source(docs), p, min(roundSize, o.most(scatterShare, scatteredBytes)))
	groupers := make([]grouper, len(p.ranges))
	segments := make([][]segment, len(scatter.sizes))
	err = scatter.rounds(ctx, func(thread, partition int, signatures []scattered) error {
		classes, documents, err := groupers[thread].group(signatures)
		if err != nil {
			return err
		}
		list, err := s.ranks.add(documents)
		at := uint64(0)
		for _, c := range classes {
			end := at + uint64(c.documents)*uint64(c.signatures)
			segments[partition] = append(segments[partition], segment{c, list, at, end})
			at = end
		}
		return err
	})
	if err != nil {
		return s, err
	}
	s.segments = slices.Concat(segments...)
	slices.SortStableFunc(s.segments, func(x, y segment) int { return cmp.Compare(y.documents, x.documents) })
	return s, s.ranks.seal()
}

// scratch returns the room for so many bytes, 0 for all, beside the sets.
func (b *Builder) scratch(bytes uint64) Room {
	r := b.room
	r.Bytes = bytes
	return r
}

// each calls f with the documents of each signature, those of the most frequent first, until f returns an error.
func (s *shared) each(ctx context.Context, f func(documents []uint32) error) error {
	for _, segment := range s.segments {
		list := s.ranks.at(segment.list)[segment.from:segment.to]
		for n := int(segment.documents); len(list) > 0; list = list[n:] {
			if err := f(list[:n]); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
