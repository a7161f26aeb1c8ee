package dedup

import (
	"cmp"
	"context"

	"ndd/engine/near/cluster"
)

// Documents with two fingerprints each are near when either is: the pairs of a corpus are those of its first and those of its second
// fingerprints. What these connect is found by itself, and then joined where it has a document in common. Stars are made of
// that by the splitter, since what is near a document is known by looking at both of its fingerprints only.

// words returns the fingerprints of all documents, both of each one after the other where they have two.
func (c *Corpus) words() []uint64 {
	if len(c.second) == 0 {
		return c.prints
	}
	all := make([]uint64, 0, 2*len(c.prints))
	for i, f := range c.prints {
		all = append(all, f, c.second[i])
	}
	return all
}

// clustersOfTwo is clusters for documents with two fingerprints each.
func (r *Result) clustersOfTwo(ctx context.Context, rest []uint32, o cluster.Options) error {
	n := len(r.corpus.prints)
	if rest != nil {
		n = len(rest)
	}
	o.Star = false
	sets := cluster.NewUnionFind(make([]uint32, n))
	for i, prints := range [][]uint64{r.corpus.prints, r.corpus.second} {
		found, err := cluster.Find(ctx, rowsOf(prints, rest), o)
		if err != nil {
			return err
		}
		if i == 0 {
			r.Distinct = found.Distinct
		}
		for _, c := range found.Clusters() {
			for _, row := range c.Rows {
				sets.Union(c.Rows[0], row)
			}
		}
	}
	r.adoptRoots(sets, rest, o.Prefer)
	return nil
}

// adoptRoots makes clusters of the sets of two rows and more, in the order of their roots, each with the row preferred most.
func (r *Result) adoptRoots(sets cluster.UnionFind, rest []uint32, prefer func(a, b int) int) {
	size := make([]uint32, len(sets))
	for i := range sets {
		size[sets.Find(uint32(i))]++
	}
	at := make([]uint32, len(sets)) // where the next row of a root goes
	end := uint32(0)
	var number []uint32 // roots of clusters
	for root, n := range size {
		if n > 1 {
			at[root] = end
			end += n
			r.ends = append(r.ends, end)
			number = append(number, uint32(root))
		}
	}
	r.rows = make([]uint32, end)
	best := make([]uint32, len(sets))
	for i := range sets {
		root := sets.Find(uint32(i))
		if size[root] < 2 {
			continue
		}
		r.rows[at[root]] = uint32(i)
		at[root]++
		if i == int(root) || better(prefer, uint32(i), best[root]) {
			best[root] = uint32(i)
		}
	}
	for _, root := range number {
		r.kept = append(r.kept, best[root])
	}
	if rest != nil {
		for i, row := range r.rows {
			r.rows[i] = rest[row]
		}
		for i, row := range r.kept {
			r.kept[i] = rest[row]
		}
	}
}

// better reports whether row a is to be kept rather than b.
func better(prefer func(a, b int) int, a, b uint32) bool {
	c := 0
	if prefer != nil {
		c = prefer(int(a), int(b))
	}
	return cmp.Or(c, cmp.Compare(a, b)) < 0
}
