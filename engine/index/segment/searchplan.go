package segment

import (
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

// A searchPlan holds the parameters of searches with distance k.
type searchPlan struct {
	design permute.Design
	search []table.Search // parameters for each table, without queries
	ns     []float64      // estimated time of one query in each table, in nanoseconds
}

// Warm prepares searches with the design's K. It takes some milliseconds, which the first search would need otherwise.
// It returns errors of reading the file.
func (s *Segment) Warm() (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if s.meta.Fingerprints > 0 {
		s.searchPlan(s.meta.Design.K)
	}
	return nil
}

// searchPlan returns the plan for k, which is made once. That takes at most two milliseconds per table.
func (s *Segment) searchPlan(k int) *searchPlan {
	if p := s.plans[k].Load(); p != nil {
		return p
	}
	p := &searchPlan{design: s.meta.Design.For(k)}
	for i, t := range p.design.Tables {
		probing := s.tables[i].PlanProbes(t.Leading(), t.Radius, k)
		search := table.Search{Leading: probing.Leading, Flips: permute.Flips(probing.Leading, t.Radius), K: k}
		search.Prepare(s.tables[i])
		p.search = append(p.search, search)
		p.ns = append(p.ns, probing.NS)
	}
	s.plans[k].Store(p)
	return p
}

// scans reports whether comparing the queries with all keys of one table is faster than probing all of these tables.
func (p *searchPlan) scans(s *Segment, tables []int, queries int) bool {
	cost := 0.0
	for _, i := range tables {
		cost += p.ns[i]
	}
	return cost > table.ScanFromNS && float64(queries)*cost > table.ScanNS(s.meta.Layout, float64(s.meta.Fingerprints),
		queries)
}
