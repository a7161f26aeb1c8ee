package cluster

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
)

// Options configures what is a cluster, and which document represents it.
type Options struct {
	K       int  // largest Hamming distance of near-duplicates
	Star    bool // every member must be within K of the representative
	Threads int  // goroutines; 0 or less: as many as there are processors

	// StarBytes is how much memory the representatives of one star cluster's
	// documents may take while they are looked up; default 256 MiB, in which
	// there are some 2 million. More of them cost repeated passes instead.
	StarBytes int64

	// Prefer orders rows: it is negative when document a should be kept
	// rather than b. Rows that it calls equal, and all rows when it is nil,
	// are preferred in order. It is called from many goroutines.
	Prefer func(a, b int) int

	Meter *Meter // counts what is done so far, if not nil
}

const starBytesDefault = 256 << 20

// withDefaults returns o with defaults for what the caller left empty.
func (o Options) withDefaults() Options {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.StarBytes <= 0 {
		o.StarBytes = starBytesDefault
	}
	return o
}

// rowsMax is the most documents that [Find] takes: rows are 32 bits.
const rowsMax = math.MaxUint32

// NeedBytes returns the most memory that [Find] takes for that many documents, beside
// their fingerprints: while they are sorted 16 bytes each, and 16 of the sorted arrays;
// then up to 32, and with Star the representatives; and the sort's buckets.
func (o Options) NeedBytes(documents uint64) uint64 {
	o = o.withDefaults()
	bytes := 32*documents + uint64(o.Threads)<<21
	if o.Star {
		bytes += uint64(o.StarBytes)
	}
	return bytes
}

// A Cluster is a set of documents of which one is to be kept.
type Cluster struct {
	Rows           []uint32 // ascending; not to be written
	Representative uint32   // the row preferred most
}

// A Result is what [Find] found. It may be read from many goroutines.
type Result struct {
	Distinct int // fingerprints

	rows            []uint32 // of the clusters, one after the other
	ends            []uint32 // cluster i has rows[ends[i-1]:ends[i]]
	representatives []uint32
}

// Len returns the number of clusters.
func (r *Result) Len() int { return len(r.ends) }

// Rows returns the number of documents in clusters.
func (r *Result) Rows() int { return len(r.rows) }

// Cluster returns the i-th cluster, from 0, of two documents or more, in order of their
// first rows.
func (r *Result) Cluster(i int) Cluster {
	from := uint32(0)
	if i > 0 {
		from = r.ends[i-1]
	}
	return Cluster{r.rows[from:r.ends[i]:r.ends[i]], r.representatives[i]}
}

// Clusters returns all clusters, in order, with their numbers from 0.
func (r *Result) Clusters() iter.Seq2[int, Cluster] {
	return func(yield func(int, Cluster) bool) {
		for i := range r.ends {
			if !yield(i, r.Cluster(i)) {
				return
			}
		}
	}
}

// Find returns the clusters of documents, one fingerprint a row. The result depends on nothing
// but the fingerprints, K, Star and Prefer. Memory: [Options.NeedBytes]. The error is that of ctx, or of memory that is not there.
//
// Without Star, clusters are the connected components: near pairs may chain,
// so distances can exceed K. With Star, documents are taken in order of
// preference, and each that is in no cluster yet becomes the representative of one
// that has everything within K that is still free.
func Find(ctx context.Context, fingerprints []uint64, o Options) (*Result, error) {
	if uint64(len(fingerprints)) > rowsMax {
		return nil, fmt.Errorf("%d documents are more than the %d that can be clustered at once", len(fingerprints), uint64(rowsMax))
	}
	p, err := newPrints(ctx, fingerprints, o.withDefaults())
	if err != nil {
		return nil, err
	}
	defer p.free()
	r := &Result{Distinct: len(p.distinct)}
	best, err := p.best()
	if err != nil {
		return nil, err
	}
	roots, err := connect(ctx, p, best)
	if err != nil {
		return nil, err
	}
	p.first.free() // distinct is not needed any more
	if err := r.gather(p, roots, best); err != nil {
		return nil, err
	}
	return r, ctx.Err()
}

// connect returns for each fingerprint the root of its cluster.
func connect(ctx context.Context, p *prints, best []uint32) (roots []uint32, err error) {
	elements, err := arrayOf[uint32](&p.memory, len(p.distinct))
	if err != nil {
		return nil, err
	}
	u := NewUnionFind(elements)
	if len(u) > 1 {
		d := Choose(len(u), p.K)
		p.Meter.begin(len(u) * len(d.Tables))
		err = joinForest(ctx, p.distinct, d, p.Threads, p.Meter, func(a uint64, near []uint64) {
			x := p.index(a)
			for _, b := range near {
				if u.Union(x, p.index(b)) {
					p.Meter.joined()
				}
			}
		})
	}
	if roots = u.flatten(); err != nil || !p.Star {
		return roots, err
	}
	return roots, p.stars(ctx, roots, best)
}

// gather collects the rows of the fingerprints that have the same root. It
// sets best of each root to the best of its cluster.
func (r *Result) gather(p *prints, roots, best []uint32) error {
	count, err := arrayOf[uint32](&p.memory, len(roots)) // rows, by root
	if err != nil {
		return err
	}
	first, err := arrayOf[uint32](&p.memory, len(roots)) // row, by root
	if err != nil {
		return err
	}
	for i, root := range roots {
		rows := p.rowsOf(i)
		if count[root] == 0 || rows[0] < first[root] {
			first[root] = rows[0]
		}
		if count[root] += uint32(len(rows)); p.better(best[i], best[root]) < 0 {
			best[root] = best[i]
		}
	}
	list := rootsOfClusters(count, first)
	r.ends, r.representatives = make([]uint32, len(list)), make([]uint32, len(list))
	at := first // where the next row of a root goes
	end := uint32(0)
	for i, root := range list {
		at[root] = end
		end += count[root]
		r.ends[i], r.representatives[i] = end, best[root]
	}
	r.rows = make([]uint32, end)
	for i, root := range roots {
		if count[root] > 1 {
			at[root] += uint32(copy(r.rows[at[root]:], p.rowsOf(i)))
		}
	}
	for _, c := range r.Clusters() {
		slices.Sort(c.Rows)
	}
	return nil
}

// rootsOfClusters returns the roots that have two rows or more, in order of their first rows.
func rootsOfClusters(count, first []uint32) []uint32 {
	clusters := 0
	for _, n := range count {
		if n > 1 {
			clusters++
		}
	}
	list := make([]uint32, 0, clusters)
	for root, n := range count {
		if n > 1 {
			list = append(list, uint32(root))
		}
	}
	slices.SortFunc(list, func(a, b uint32) int { return cmp.Compare(first[a], first[b]) })
	return list
}
