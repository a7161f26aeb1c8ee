package live

import (
	"context"
	"slices"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/permute"
)

// A segment is merged with all following ones when these have more than five thirds of its documents. So the sizes of
// segments fall from the first to the last, there are log n segments, and each document is written about as often: 3.8
// times for a hundred flushes, which leave at most seven segments and four on average. The segment of a build is
// written again only if inserts outgrow it.
//
//	1 1 + 1 -> 3      3 1 1 + 1 -> 3 3      3 3 1 1 + 1 -> 9      100 9 1 + 1 stays
const (
	outgrownBy = 5
	outgrown   = 3
	// mergeMin is the minimum number of segments of a merge. It is one more if they have at most fewDocs together;
	// otherwise each small insert would cause a merge.
	mergeMin = 3
	fewDocs  = 1 << 16
)

// goneMin is the maximum number of deleted or expired documents of a segment that do not justify a merge.
const goneMin = 4096

// pick returns the segments to merge next: one segment whose documents are all deleted or expired, consecutive segments
// that have outgrown the first of them, or one segment with a quarter of deleted or expired documents. It returns
// nothing if no merge is due.
func pick(segments []*version.Segment, now rows.Time) []*version.Segment {
	if i := slices.IndexFunc(segments, func(s *version.Segment) bool {
		return s.Owned && !s.Busy && s.Live(now) == 0 && (s.Documents() > 0 || len(s.Older) == 0)
	}); i >= 0 {
		return segments[i : i+1]
	}
	sizes := make([]uint64, len(segments))
	for i, s := range segments {
		if s.Owned && !s.Busy {
			sizes[i] = max(s.Live(now), 1)
		}
	}
	if begin, end := pickOutgrown(sizes); begin < end {
		return segments[begin:end]
	}
	i := slices.IndexFunc(segments, func(s *version.Segment) bool {
		deleted := s.Documents() - s.Live(now)
		return s.Owned && !s.Busy && deleted > goneMin && 4*deleted >= s.Documents()
	})
	if i < 0 {
		return nil
	}
	return segments[i : i+1]
}

// neverMerged is the size of segments that may not be merged.
const neverMerged = 0

// pickOutgrown returns the range of segments to merge by their sizes, preferring the last ones. It is empty if there
// are none.
func pickOutgrown(sizes []uint64) (begin, end int) {
	for end := len(sizes); end > 0; end-- {
		begin, smaller := end, uint64(0)
		first := end
		for ; first > 0 && sizes[first-1] != neverMerged; first-- {
			size, minimum := sizes[first-1], mergeMin
			if smaller+size <= fewDocs {
				minimum++
			}
			if outgrown*smaller > outgrownBy*size && end-first+1 >= minimum {
				begin = first - 1
			}
			smaller += size
		}
		if begin < end {
			return begin, end
		}
		end = first
	}
	return 0, 0
}

// A query searches all segments, and even a small segment costs a pass of probes. So a segment that is small in
// relation to the index has more tables with fewer probes, if the cost model says that they are faster. For k = 3 these
// are four tables with one exact quarter of the bits and a few dozen candidates, instead of two tables with one probe
// for each bit of a half. That doubles the bytes of the segment, but it has at most an eighth of the documents. Larger
// segments have the index's design. Readers need not know: each segment names its tables.
const (
	smallShare = 8    // a small segment holds at most 1/smallShare of all documents
	smallBytes = 2.25 // maximum bytes, relative to the index's design
	smallTime  = 0.91 // maximum time of a single query and one of a batch, relative to the index's design
)

// designOf returns the design of a segment with docs documents, depending on its share of all documents.
func (c *Config) designOf(docs, fingerprints uint64) permute.Design {
	if docs == 0 || docs > fingerprints/smallShare || c.Table.Layout != table.LayoutPlanar {
		return c.Design
	}
	isOwn := func(o plan.Option) bool { return slices.Equal(o.Design.Tables, c.Design.Tables) }
	r := plan.Request{Fingerprints: docs, K: c.Design.K, Layout: table.LayoutPlanar,
		Designs: append(permute.Catalogue(c.Design.K, c.Design.Seed), c.Design)}
	p, err := plan.New(context.Background(), r)
	if err != nil {
		return c.Design
	}
	design := p.Options[slices.IndexFunc(p.Options, isOwn)]
	best, time := design, func(o plan.Option) float64 { return o.OnlineNS + o.BatchNS }
	for _, o := range p.Options {
		if o.Design.K == c.Design.K && float64(o.Bytes) <= smallBytes*float64(design.Bytes) && time(o) < time(best) {
			best = o
		}
	}
	if time(best) > smallTime*time(design) {
		return c.Design
	}
	return best.Design
}
