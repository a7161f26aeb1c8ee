package dedup

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"ndd/engine/near/shingle"
	"ndd/engine/parallel"
)

// clustersTogether is how many clusters a goroutine splits at a time: most have two documents, which take a microsecond.
const clustersTogether = 64

// splitClusters returns the groups of all clusters, which goroutines find each with a copy of s.
func (r *Result) splitClusters(ctx context.Context, s splitter, threads int) ([]group, error) {
	clusters := slices.Collect(r.Clusters())
	groups := make([][]group, len(clusters))
	err := parallel.Each(ctx, parallel.Options{Workers: threads}, func(_ context.Context, yield func(int) bool) error {
		for first := 0; first < len(clusters) && yield(first); first += clustersTogether {
		}
		return nil
	}, func(ctx context.Context, parts iter.Seq[int]) (err error) {
		s := s
		for first := range parts {
			for i := first; i < min(first+clustersTogether, len(clusters)); i++ {
				if groups[i], err = s.split(ctx, clusters[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return slices.Concat(groups...), err
}

// A group is a document that is kept and those whose texts are like its own.
type group struct {
	kept   uint32
	rows   []uint32 // ascending
	shares []float32
}

// A splitter splits clusters by what documents must have in common beside a fingerprint. It belongs to one goroutine.
type splitter struct {
	lengths []uint32               // of texts, by row
	ratio   float64                // of lengths, at most; 0: any
	near    func(a, b uint32) bool // nil: any
	least   float64                // Jaccard of texts; 0: any
	sets    *shingle.Sets          // of the members; nil where texts are not compared
	members []uint32               // ascending
	prefer  func(a, b int) int
	bufs    [2][]uint64
}

// split returns the groups of a cluster: each document, the most preferred first, goes to the first group
// whose kept document is similar enough, or else begins one.
func (p *splitter) split(ctx context.Context, c Cluster) ([]group, error) {
	rows := slices.Clone(c.Rows)
	slices.SortFunc(rows, func(a, b uint32) int {
		if p.prefer != nil {
			return cmp.Or(p.prefer(int(a), int(b)), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
	var groups []group
	var leaders []leader // that groups keep
	for _, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one := leader{row: row}
		if p.sets != nil {
			one.member, _ = slices.BinarySearch(p.members, row)
		}
		g, share, err := p.find(leaders, one)
		if err != nil {
			return nil, err
		}
		if g < 0 {
			g, share = len(groups), 1
			groups = append(groups, group{kept: row})
			leaders = append(leaders, one)
		}
		groups[g].rows = append(groups[g].rows, row)
		groups[g].shares = append(groups[g].shares, float32(share))
	}
	for i := range groups {
		groups[i].sort()
	}
	return groups, nil
}

// A leader is a document that may be kept.
type leader struct {
	row    uint32
	member int // its place among the members, where texts are compared
}

// find returns the first leader that is similar enough to a document, -1 for none.
func (p *splitter) find(leaders []leader, one leader) (g int, share float64, err error) {
	var set []uint64
	for i, leader := range leaders {
		if p.near != nil && !p.near(leader.row, one.row) {
			continue
		}
		if p.ratio != 0 && lengthsApart(p.lengths[leader.row], p.lengths[one.row], p.ratio) {
			continue
		}
		if p.sets == nil {
			return i, 0, nil
		}
		if shingle.JaccardBound(p.sets.Len(leader.member), p.sets.Len(one.member)) < p.least {
			continue
		}
		if set == nil {
			if set, p.bufs[0], err = p.sets.Get(one.member, p.bufs[0]); err != nil {
				return 0, 0, err
			}
		}
		var other []uint64
		if other, p.bufs[1], err = p.sets.Get(leader.member, p.bufs[1]); err != nil {
			return 0, 0, err
		}
		if share := shingle.Jaccard(other, set); share >= p.least {
			return i, share, nil
		}
	}
	return -1, 0, nil
}

// lengthsApart reports whether one text is more than ratio times as long as the other. Lengths of 0 are not known.
func lengthsApart(a, b uint32, ratio float64) bool {
	return a != 0 && b != 0 && float64(max(a, b)) > ratio*float64(min(a, b))
}

// sort puts the rows in order.
func (g *group) sort() {
	order := make([]int, len(g.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(g.rows[a], g.rows[b]) })
	rows, shares := make([]uint32, len(order)), make([]float32, len(order))
	for i, from := range order {
		rows[i], shares[i] = g.rows[from], g.shares[from]
	}
	g.rows, g.shares = rows, shares
}

// replaceClusters makes the groups of two and more the clusters.
func (r *Result) replaceClusters(groups []group) {
	before := len(r.rows) - len(r.ends)
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.rows[0], b.rows[0]) })
	r.rows, r.ends, r.kept, r.shares = r.rows[:0], r.ends[:0], r.kept[:0], make([]float32, 0, len(r.rows))
	for _, g := range groups {
		if len(g.rows) < 2 {
			continue
		}
		r.rows, r.shares = append(r.rows, g.rows...), append(r.shares, g.shares...)
		r.ends, r.kept = append(r.ends, uint32(len(r.rows))), append(r.kept, g.kept)
	}
	if !r.verified {
		r.shares = nil
	}
	r.Rejected += before - (len(r.rows) - len(r.ends))
}
