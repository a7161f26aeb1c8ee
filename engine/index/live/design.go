package live

import (
	"context"
	"slices"

	"ndd/engine/index/plan"
	"ndd/engine/index/table"
	"ndd/permute"
)

// A query searches all segments, and each takes it a pass of probes however small it is. So a segment that is small beside the index has
// more tables of fewer probes, where the cost model says that they take less time: for k = 3, four tables that are each searched for
// one exact quarter of the bits, with a few dozen candidates, instead of two with one probe for each bit of a half. That is
// twice the bytes for it, and so for an eighth of the documents or a few times that. What holds more of them has the
// index's design, as building makes it. Readers need not know: each segment says what its tables are.
const (
	smallShare = 8    // of the documents a small segment holds one in so many at most
	smallBytes = 2.25 // times the bytes of the index's design, at most
	smallTime  = 0.85 // of the time that the index's design takes, at most
)

// designOf returns the design of a segment of so many documents in an index that has so many in all.
func (c *Config) designOf(docs, all uint64) permute.Design {
	if docs == 0 || docs > all/smallShare || c.Table.Layout != table.LayoutPlanar {
		return c.Design
	}
	isOwn := func(o plan.Option) bool { return slices.Equal(o.Design.Tables, c.Design.Tables) }
	r := plan.Request{Fingerprints: docs, K: c.Design.K, Layout: table.LayoutPlanar, Designs: append(permute.Catalogue(c.Design.K, c.Design.Seed), c.Design)}
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

// documents returns how many documents the index has, with those that are deleted and not merged yet.
func (x *Index) documents() (docs uint64) {
	v := x.current.Load()
	if v == nil {
		return 0
	}
	for _, s := range v.segments {
		docs += s.Documents()
	}
	for _, m := range v.memtables {
		docs += uint64(m.len())
	}
	return docs
}
