package cluster

import (
	"context"
	"math/bits"
	"runtime"
	"slices"

	"ndd/engine/radix"
)

// A Cluster is a set of rows that near pairs connect.
type Cluster struct {
	// Rows of the documents, ascending. The first is the representative.
	Rows []int
	// Distances of the documents' fingerprints to the representative's, in
	// bits. Near pairs may chain, so they can be larger than k.
	Distances []int
}

// A Result is what [Find] found.
type Result struct {
	Clusters []Cluster // of two documents or more, by representative
	Distinct int       // fingerprints
	Pairs    uint64    // of distinct fingerprints within k
}

// Find groups the documents, one fingerprint a row, whose fingerprints are
// within distance k, directly or through others. threads <= 0 means as many as
// there are processors. The result does not depend on threads.
func Find(ctx context.Context, fingerprints []uint64, k, threads int) (*Result, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	// Rows by fingerprint: distinct[i] has the rows sorted[ends[i-1]:ends[i]].
	sorted := make([]radix.Pair, len(fingerprints))
	radix.Pairs(sorted, fingerprints, ^uint64(0), threads)
	var distinct []uint64
	var ends []int
	for i, p := range sorted {
		if i == 0 || p[0] != sorted[i-1][0] {
			distinct = append(distinct, p[0])
			ends = append(ends, 0)
		}
		ends[len(ends)-1] = i + 1
	}

	r := &Result{Distinct: len(distinct)}
	u := newUnion(len(distinct))
	if len(distinct) > 1 {
		err := Join(ctx, distinct, Choose(len(distinct), k), threads, func(a, b uint64) {
			r.Pairs++
			u.join(a, b)
		})
		if err != nil {
			return nil, err
		}
	}
	members := make(map[uint64][]int)
	from := 0
	for i, to := range ends {
		root := u.find(uint64(i))
		if to-from > 1 || u.size[root] > 1 {
			for _, p := range sorted[from:to] {
				members[root] = append(members[root], int(p[1]))
			}
		}
		from = to
	}
	for _, rows := range members {
		slices.Sort(rows)
		c := Cluster{Rows: rows}
		for _, row := range rows {
			c.Distances = append(c.Distances, bits.OnesCount64(fingerprints[row]^fingerprints[rows[0]]))
		}
		r.Clusters = append(r.Clusters, c)
	}
	slices.SortFunc(r.Clusters, func(a, b Cluster) int { return a.Rows[0] - b.Rows[0] })
	return r, nil
}

// union is a disjoint-set forest: union by size, path halving.
type union struct {
	parent []uint64
	size   []uint64
}

func newUnion(n int) *union {
	u := &union{make([]uint64, n), make([]uint64, n)}
	for i := range u.parent {
		u.parent[i], u.size[i] = uint64(i), 1
	}
	return u
}

func (u *union) find(x uint64) uint64 {
	for u.parent[x] != x {
		u.parent[x] = u.parent[u.parent[x]]
		x = u.parent[x]
	}
	return x
}

func (u *union) join(a, b uint64) {
	a, b = u.find(a), u.find(b)
	if a == b {
		return
	}
	if u.size[a] < u.size[b] {
		a, b = b, a
	}
	u.parent[b] = a
	u.size[a] += u.size[b]
}
