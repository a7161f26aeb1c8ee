package segment

import (
	"ndd/engine/index/table"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// A searchPlan is how the tables are searched for one distance k.
type searchPlan struct {
	design permute.Design
	search []table.Search // by table, without queries
	ns     []float64      // by table: what one query takes there by probing
}

// earlierMax is how many earlier tables a search has, so that it need not
// rebuild what they report: most of it is found by the first few.
const earlierMax = 16

// Warm makes what searches for the design's K need beside the tables: some milliseconds, which the
// first of them would wait for. The error is that of reading the file.
func (s *Segment) Warm() (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if s.meta.Fingerprints > 0 {
		s.searchPlan(s.meta.Design.K)
	}
	return nil
}

// searchPlan returns the plan for k, which is made once: two milliseconds a table at most, whatever
// the fingerprints.
func (s *Segment) searchPlan(k int) *searchPlan {
	if p := s.plans[k].Load(); p != nil {
		return p
	}
	p := &searchPlan{design: s.meta.Design.For(k)}
	for i, t := range p.design.Tables {
		probing := s.tables[i].Probing(t.Leading(), t.Radius, k)
		var earlier []table.Finder
		for _, e := range p.design.Tables[:min(i, earlierMax)] {
			earlier = append(earlier, table.Finder{Mask: s.perms[i].Apply(e.Mask), Radius: e.Radius})
		}
		search := table.Search{Leading: probing.Leading, Flips: permute.Flips(probing.Leading, t.Radius), K: k,
			Earlier: earlier}
		search.Prepare(s.tables[i])
		p.search = append(p.search, search)
		p.ns = append(p.ns, probing.NS)
	}
	s.plans[k].Store(p)
	return p
}

// scans reports whether the queries take less time by comparing them with all keys of one of
// these tables than by probing all of them.
func (p *searchPlan) scans(s *Segment, tables []int, queries int) bool {
	each := 0.0
	for _, i := range tables {
		each += p.ns[i]
	}
	return each > table.ScanFromNS && float64(queries)*each > table.ScanNS(s.meta.Layout, float64(s.meta.Fingerprints),
		queries)
}
