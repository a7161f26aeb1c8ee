package live

import (
	"context"
	"slices"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/plan"
	"ndd/engine/index/table"
	"ndd/permute"
)

// A segment is merged with all behind it when these have outgrown it: when they have more than five
// thirds of its documents. So the documents of segments fall off from the first to the last, of
// which there are log n, and each document is written about as often as there are segments: 3.8
// times for a hundred flushes, which leave seven segments at most and four on average. What an
// index was built of is written again only by inserts that outgrow it.
//
//	1 1 + 1 -> 3      3 1 1 + 1 -> 3 3      3 3 1 1 + 1 -> 9      100 9 1 + 1 stays
const (
	outgrownBy = 5
	outgrown   = 3
	// mergedLeast are worth a merge, or one more where they have fewDocs together: who adds a few
	// documents now and then finds a merge each time otherwise.
	mergedLeast = 3
	fewDocs     = 1 << 16
)

// goneMin documents or fewer that are gone are not worth a merge.
const goneMin = 4096

// pick returns the segments to merge next: neighbours that may all be merged, of which the first is
// outgrown by the others; or one of which a quarter is deleted or has expired; nothing when all is
// well.
func pick(segments []*version.Segment, now rows.Time) []*version.Segment {
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
		gone := s.Documents() - s.Live(now)
		return s.Owned && !s.Busy && gone > goneMin && 4*gone >= s.Documents()
	})
	if i < 0 {
		return nil
	}
	return segments[i : i+1]
}

// neverMerged stands for the size of what may not be merged.
const neverMerged = 0

// pickOutgrown returns which neighbours are to be merged, by their sizes, the last ones first; none
// where both are equal.
func pickOutgrown(sizes []uint64) (begin, end int) {
	for end := len(sizes); end > 0; end-- {
		begin, behind := end, uint64(0)
		from := end
		for ; from > 0 && sizes[from-1] != neverMerged; from-- {
			size, least := sizes[from-1], mergedLeast
			if behind+size <= fewDocs {
				least++
			}
			if outgrown*behind > outgrownBy*size && end-from+1 >= least {
				begin = from - 1
			}
			behind += size
		}
		if begin < end {
			return begin, end
		}
		end = from
	}
	return 0, 0
}

// A query searches all segments, and each takes it a pass of probes however small it is. So a
// segment that is small beside the index has more tables of fewer probes, where the cost model says
// that they take less time: for k = 3, four tables that are each searched for one exact quarter of
// the bits, with a few dozen candidates, instead of two with one probe for each bit of a half. That
// is twice the bytes for it, and so for an eighth of the documents or a few times that. What holds
// more of them has the index's design, as building makes it. Readers need not know: each segment
// says what its tables are.
const (
	smallShare = 8    // of the documents a small segment holds one in so many at most
	smallBytes = 2.25 // times the bytes of the index's design, at most
	smallTime  = 0.85 // of the time that the index's design takes, at most
)

// documents returns how many documents the index has, deleted ones among them.
func (w *writer) documents() uint64 {
	if v := w.versions.Current(); v != nil {
		return v.Documents()
	}
	return 0
}

// designOf returns the design of a segment with docs of all documents of the index.
func (c *Config) designOf(docs, all uint64) permute.Design {
	if docs == 0 || docs > all/smallShare || c.Table.Layout != table.LayoutPlanar {
		return c.Design
	}
	isOwn := func(o plan.Option) bool { return slices.Equal(o.Design.Tables, c.Design.Tables) }
	r := plan.Request{Fingerprints: docs, K: c.Design.K, Layout: table.LayoutPlanar,
		Designs: append(permute.Catalogue(c.Design.K, c.Design.Seed), c.Design)}
	p, err := plan.New(context.Background(), r)
	if err != nil {
		return c.Design
	}
	own := p.Options[slices.IndexFunc(p.Options, isOwn)]
	best := own
	for _, o := range p.Options {
		if o.Design.K == c.Design.K && float64(o.Bytes) <= smallBytes*float64(own.Bytes) && o.OnlineNS < best.OnlineNS {
			best = o
		}
	}
	if best.OnlineNS > smallTime*own.OnlineNS {
		return c.Design
	}
	return best.Design
}
