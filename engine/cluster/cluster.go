package cluster

import (
	"cmp"
	"context"
	"math/bits"
	"runtime"
	"slices"

	"ndd/engine/radix"
)

// Options say what counts as a cluster and which document stands for it.
type Options struct {
	K       int  // largest Hamming distance of near-duplicates
	Star    bool // every member must be within K of the representative
	Threads int  // default: as many as there are processors

	// Prefer orders rows: it is negative when document a should be kept
	// rather than b. Rows that it calls equal, and all rows when it is nil,
	// are preferred in order.
	Prefer func(a, b int) int
}

// A Cluster is a set of documents of which one is to be kept.
type Cluster struct {
	Rows           []int // ascending
	Representative int   // the row preferred most
	Distances      []int // of each row's fingerprint to the representative's, in bits
}

// A Result is what [Find] found.
type Result struct {
	Clusters []Cluster // of two documents or more, by their first row
	Distinct int       // fingerprints
	Pairs    uint64    // of distinct fingerprints within K
}

// Find groups documents, one fingerprint a row. The result depends on nothing
// but the fingerprints, K, Star and Prefer.
//
// Without Star, clusters are the connected components: near pairs may chain,
// so distances can exceed K. With Star, documents are taken in order of
// preference, and each that no former one has taken becomes a representative
// and takes everything within K that is still free.
//
// Memory: 24 bytes a document while they are sorted, then 16 a document and 24
// a distinct fingerprint; with Star, 16 bytes a pair more.
func Find(ctx context.Context, fingerprints []uint64, o Options) (*Result, error) {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	p := newPrints(fingerprints, o)
	r := &Result{Distinct: len(p.distinct)}
	var near []pair
	u := newUnion(len(p.distinct))
	if len(p.distinct) > 1 {
		err := Join(ctx, p.distinct, Choose(len(p.distinct), o.K), o.Threads, func(a, b uint64) {
			r.Pairs++
			x, y := p.index(a), p.index(b)
			if o.Star {
				near = append(near, pair{x, y}, pair{y, x})
			} else {
				u.join(x, y)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if o.Star {
		p.stars(u, near)
	}
	r.Clusters = p.clusters(u)
	return r, nil
}

// prints are the distinct fingerprints, ascending, with their rows.
type prints struct {
	Options
	rows     []uint64 // of fingerprints, equal ones together, ascending
	distinct []uint64
	ends     []int // distinct[i] has rows[ends[i-1]:ends[i]]
}

func newPrints(fingerprints []uint64, o Options) *prints {
	sorted := make([]radix.Pair, len(fingerprints))
	radix.Pairs(sorted, fingerprints, ^uint64(0), o.Threads)
	p := &prints{Options: o, rows: make([]uint64, len(sorted))}
	for i, s := range sorted {
		if i == 0 || s[0] != sorted[i-1][0] {
			p.distinct = append(p.distinct, s[0])
			p.ends = append(p.ends, 0)
		}
		p.ends[len(p.ends)-1] = i + 1
		p.rows[i] = s[1]
	}
	return p
}

// index is the place of a fingerprint that is there.
func (p *prints) index(f uint64) int {
	i, _ := slices.BinarySearch(p.distinct, f)
	return i
}

func (p *prints) rowsOf(i int) []uint64 {
	if i == 0 {
		return p.rows[:p.ends[0]]
	}
	return p.rows[p.ends[i-1]:p.ends[i]]
}

// better compares rows by preference.
func (p *prints) better(a, b int) int {
	if p.Prefer != nil {
		if c := p.Prefer(a, b); c != 0 {
			return c
		}
	}
	return cmp.Compare(a, b)
}

// best is the row preferred among those of fingerprint i.
func (p *prints) best(i int) int {
	rows := p.rowsOf(i)
	best := int(rows[0])
	for _, row := range rows[1:] {
		if p.better(int(row), best) < 0 {
			best = int(row)
		}
	}
	return best
}

type pair struct{ from, to int }

// stars joins every fingerprint with the first, by preference, that takes it.
func (p *prints) stars(u *union, near []pair) {
	slices.SortFunc(near, func(a, b pair) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	type hub struct{ print, best, from, to int } // its neighbours are near[from:to]
	var hubs []hub
	for from := 0; from < len(near); {
		to := from
		for to < len(near) && near[to].from == near[from].from {
			to++
		}
		hubs = append(hubs, hub{near[from].from, p.best(near[from].from), from, to})
		from = to
	}
	slices.SortFunc(hubs, func(a, b hub) int { return p.better(a.best, b.best) })
	taken := make(map[int]bool, len(hubs))
	for _, h := range hubs {
		if taken[h.print] {
			continue
		}
		taken[h.print] = true
		for _, n := range near[h.from:h.to] {
			if !taken[n.to] {
				taken[n.to] = true
				u.join(h.print, n.to)
			}
		}
	}
}

// clusters collects the rows of each joined set.
func (p *prints) clusters(u *union) []Cluster {
	members := make(map[int]*Cluster)
	prints := make(map[int][]int) // fingerprints of each cluster
	for i := range p.distinct {
		root := u.find(i)
		rows := p.rowsOf(i)
		if len(rows) == 1 && u.size[root] == 1 {
			continue
		}
		c := members[root]
		if c == nil {
			c = &Cluster{Representative: -1}
			members[root] = c
		}
		prints[root] = append(prints[root], i)
		if best := p.best(i); c.Representative < 0 || p.better(best, c.Representative) < 0 {
			c.Representative = best
		}
	}
	list := make([]Cluster, 0, len(members))
	for root, c := range members {
		p.fill(c, prints[root])
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Cluster) int { return cmp.Compare(a.Rows[0], b.Rows[0]) })
	return list
}

// fill gives a cluster the rows of its fingerprints and their distances.
func (p *prints) fill(c *Cluster, prints []int) {
	var centre uint64
	for _, i := range prints {
		if _, ok := slices.BinarySearch(p.rowsOf(i), uint64(c.Representative)); ok {
			centre = p.distinct[i]
		}
	}
	type member struct{ row, distance int }
	var members []member
	for _, i := range prints {
		d := bits.OnesCount64(p.distinct[i] ^ centre)
		for _, row := range p.rowsOf(i) {
			members = append(members, member{int(row), d})
		}
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.row, b.row) })
	for _, m := range members {
		c.Rows = append(c.Rows, m.row)
		c.Distances = append(c.Distances, m.distance)
	}
}
