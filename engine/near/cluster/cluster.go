package cluster

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/memory"
)

// Options configures the clusters and the choice of their representatives.
type Options struct {
	K       int // largest Hamming distance of near-duplicates
	Threads int // number of goroutines; 0 or less means one for each processor

	// Prefer orders rows: it is negative if document a should be kept rather than b. The lower one of
	// two equal rows is preferred. If Prefer is nil, all rows are equal. Many goroutines call it.
	Prefer func(a, b int) int

	Meter *Meter // counts the progress, if not nil

	// Arena is an empty arena. The search allocates its memory like this arena, and frees it in the end. The default
	// is memory without a limit.
	Arena memory.Arena

	// Results, if not nil, is the memory of the result, which is valid until the arena is freed. The default is the
	// Go heap.
	Results *memory.Arena
}

// A Meter counts the progress of [Find]. Any goroutine may read it at any time.
type Meter struct {
	Total    atomic.Int64 // fingerprints to compare, once for each table; 0 while the number is unknown
	Compared atomic.Int64 // fingerprints compared so far, once for each table
	Joined   atomic.Int64 // number of distinct fingerprints minus the number of clusters so far, including single ones
}

// withDefaults returns o with defaults for Threads and Meter.
func (o Options) withDefaults() Options {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	o.Meter = cmp.Or(o.Meter, new(Meter))
	return o
}

const (
	// CandidateBytes is the memory for a document that may be near another one: 4 bytes for its row, 4 for its
	// position in the order of fingerprints, 16 for its share of the result, and 20 during the comparison.
	CandidateBytes = 44

	// DirectMax is the number of documents up to which all documents are candidates, without a filter.
	DirectMax = 1 << 20

	keyShare = 2 // findNear has memory for at least 1/keyShare of the fingerprints at a time
)

// FixedBytes returns the memory of [Find] that does not depend on the number of documents: the buckets of the sort.
// They are in the Go heap.
func (o Options) FixedBytes() uint64 { return uint64(o.withDefaults().Threads) << 21 }

// A Row is the number of a document, from 0.
type Row uint64

// A Cluster is a set of documents. One of them is to be kept.
type Cluster struct {
	Rows           []Row // ascending; read only
	Representative Row   // the preferred row
}

// A Result holds the clusters that [Find] found. Many goroutines may read it.
type Result struct {
	Distinct int // number of distinct fingerprints

	rows       []Row // rows of all clusters
	unusedRows int   // number of rows that no cluster contains
	clusters   []span
}

// A span describes a cluster. Its first word holds from and to: the cluster has the rows rows[from:to]. The second
// word is the preferred row.
type span [2]uint64

func spanOf(from, to int, best Row) span { return span{uint64(from)<<32 | uint64(to), uint64(best)} }
func (s span) from() int                 { return int(s[0] >> 32) }
func (s span) to() int                   { return int(uint32(s[0])) }

// Len returns the number of clusters.
func (r *Result) Len() int { return len(r.clusters) }

// Room returns the length of the list of rows. It includes rows that no cluster contains.
func (r *Result) Room() int { return len(r.rows) }

// Rows returns the number of documents in clusters.
func (r *Result) Rows() int { return len(r.rows) - r.unusedRows }

// Cluster returns cluster i, from 0.
func (r *Result) Cluster(i int) Cluster {
	s := r.clusters[i]
	return Cluster{r.rows[s.from():s.to():s.to()], Row(s[1])}
}

// At returns the index of the first row of cluster i in the list of rows. It is below Room.
func (r *Result) At(i int) int { return r.clusters[i].from() }

// A Division replaces each cluster of a result by groups of its rows. Several goroutines may add groups of different
// clusters.
type Division struct {
	*Result
	groups []span // groups[i/2] is the group that begins at rows[i]; each has at least two rows, so i/2 is unique
}

// Divide returns a division without any groups. It overwrites the rows of the result, which becomes invalid. It takes 8
// bytes a row from the arena.
func (r *Result) Divide(a *memory.Arena) (d *Division, err error) {
	d = &Division{Result: r, groups: memory.Alloc[span](a, (len(r.rows)+1)/2, &err)}
	return d, err
}

// Add adds a group of at least two rows of a cluster. It writes the rows at an index of the list of rows, after the
// other groups of the cluster. It may overwrite rows of this cluster.
func (d *Division) Add(index int, c Cluster) {
	copy(d.rows[index:], c.Rows)
	d.groups[index/2] = spanOf(index, index+len(c.Rows), c.Representative)
}

// Done returns the groups as clusters.
func (d *Division) Done() *Result {
	r := &Result{Distinct: d.Distinct, rows: d.rows, unusedRows: len(d.rows)}
	r.clusters = slices.DeleteFunc(d.groups, func(s span) bool { return s.to() == 0 })
	for _, s := range r.clusters {
		r.unusedRows -= s.to() - s.from()
	}
	r.sort()
	return r
}

// sort sorts the clusters by their first rows.
func (r *Result) sort() {
	slices.SortFunc(r.clusters, func(a, b span) int { return cmp.Compare(r.rows[a.from()], r.rows[b.from()]) })
}

// Map replaces each row by rows[row]. The list must be ascending.
func (r *Result) Map(rows []Row) {
	for i, row := range r.rows {
		r.rows[i] = rows[row]
	}
	for i := range r.clusters {
		r.clusters[i][1] = uint64(rows[r.clusters[i][1]])
	}
}

// Clusters returns all clusters with their numbers from 0, in order of their first rows. Each has at least two
// documents.
func (r *Result) Clusters() iter.Seq2[int, Cluster] {
	return func(yield func(int, Cluster) bool) {
		for i := range r.clusters {
			if !yield(i, r.Cluster(i)) {
				return
			}
		}
	}
}

// Find returns the clusters of documents, one fingerprint a row. The result depends on the fingerprints, K and Prefer
// only. It fails if ctx ends or memory is not available.
//
// Clusters are the connected components: near pairs may chain, so distances can exceed K. Documents with the same
// fingerprint are in the same cluster.
//
// If there are many documents, Find first looks for candidates, the documents with a near or equal one (findNear). Then
// it compares only these. For 1e9 raw fingerprints this takes 8 GB of mapped input, 4 GB for keys and 1 GB for the
// filter. If 5 % have a near one, the candidates take 2.2 GB after the keys are freed:
//
//	fingerprints --join--> filter --each row--> candidates --sort, join, union-find--> clusters
//	8n                     n                    44 bytes each
func Find(ctx context.Context, all []uint64, o Options) (*Result, error) {
	o = o.withDefaults()
	c, err := o.candidates(ctx, all)
	if err != nil {
		return nil, err
	}
	defer c.arena.Free()
	p, err := newPrints(ctx, c, o)
	if err != nil {
		return nil, err
	}
	defer p.free()
	distinct := len(all) - (c.len - len(p.distinct))
	best, err := p.best()
	if err != nil {
		return nil, err
	}
	roots, err := connect(ctx, p, best)
	if err != nil {
		return nil, err
	}
	p.first.Free() // frees distinct, which is needed only by connect
	r, err := p.gather(roots, best)
	if err != nil {
		return nil, err
	}
	r.Distinct = distinct
	return r, ctx.Err()
}

// candidates returns the documents to be compared with each other. These are all documents if there are few of them and
// the memory suffices.
func (o *Options) candidates(ctx context.Context, all []uint64) (c *candidates, err error) {
	n, available := uint64(len(all)), o.Arena.Budget.Free()
	if n < 2 || n <= DirectMax && CandidateBytes*n <= available {
		return &candidates{fingerprints: all, len: int(n)}, nil
	}
	keys := n/keyShare + 1
	if filter := n * filterBits / 8; o.Arena.Budget != nil {
		keys = min(max((available-min(available, filter))/8, keys), n)
	}
	for {
		c, err = findNear(ctx, all, *o, int(keys))
		if !errors.Is(err, radix.ErrRoom) || keys == n {
			return c, err
		}
		keys = min(2*keys, n) // a bucket was too large, because most fingerprints share many bits
		o.Meter.Total.Store(o.Meter.Compared.Load())
	}
}

// connect returns the root of each fingerprint's cluster.
func connect(ctx context.Context, p *fingerprintRows, best []uint32) (roots []uint32, err error) {
	u := NewUnionFind(memory.Alloc[uint32](&p.memory, len(p.distinct), &err))
	if err != nil {
		return nil, err
	}
	if len(u) > 1 {
		room := memory.AllocBuffer[uint64](&p.first, len(u), &err)
		if err != nil {
			return nil, err
		}
		defer room.Free()
		d := Choose(len(u), p.K)
		p.Meter.Total.Add(int64(len(u) * len(d.Tables)))
		err = joinForest(ctx, radix.Chunks{p.distinct}, room.Data, d, p.Threads, p.Meter, func(a uint64, neighbours []uint64) {
			x := p.index(a)
			for _, b := range neighbours {
				if u.Union(x, p.index(b)) {
					p.Meter.Joined.Add(1)
				}
			}
		})
	}
	return u.flatten(), err
}

// components lists the fingerprints by their roots.
type components struct{ list, ends []uint32 }

// listComponents returns the components of all roots. It takes 8 bytes of memory a fingerprint.
func listComponents(a *memory.Arena, roots []uint32) (c components, err error) {
	c.list = memory.Alloc[uint32](a, len(roots), &err)
	if c.ends = memory.Alloc[uint32](a, len(roots), &err); err != nil {
		return c, err
	}
	for _, root := range roots {
		c.ends[root]++
	}
	index := uint32(0)
	for i, n := range c.ends {
		c.ends[i] = index
		index += n
	}
	for i, root := range roots { // this moves the beginning of each component to its end
		c.list[c.ends[root]] = uint32(i)
		c.ends[root]++
	}
	return c, nil
}

// ofRoot returns the component of a root, ascending. It is empty for fingerprints that are no root.
func (c *components) ofRoot(root int) []uint32 {
	from := uint32(0)
	if root > 0 {
		from = c.ends[root-1]
	}
	return c.list[from:c.ends[root]]
}

// gather returns the clusters: the rows whose fingerprints have the same root, if there are at least two.
func (p *fingerprintRows) gather(roots, best []uint32) (*Result, error) {
	// Count the clusters and their rows.
	all, err := listComponents(&p.memory, roots)
	if err != nil {
		return nil, err
	}
	clusters, rows := 0, 0
	for root := range roots {
		if n := p.countRows(all.ofRoot(root)); n > 1 {
			clusters, rows = clusters+1, rows+n
		}
	}
	// Take the memory of the result.
	r := new(Result)
	if a := p.Results; a != nil {
		r.clusters, r.rows = memory.Alloc[span](a, clusters, &err)[:0], memory.Alloc[Row](a, rows, &err)[:0]
	}
	if err != nil {
		return nil, err
	}
	// Write the rows of each cluster, with its preferred row.
	for root := range roots {
		members, from := all.ofRoot(root), len(r.rows)
		if p.countRows(members) < 2 {
			continue
		}
		first := best[members[0]]
		for _, i := range members {
			for _, candidate := range p.having(int(i)) {
				r.rows = append(r.rows, p.row(candidate))
			}
			if p.better(best[i], first) < 0 {
				first = best[i]
			}
		}
		r.clusters = append(r.clusters, spanOf(from, len(r.rows), p.row(first)))
		slices.Sort(r.rows[from:])
	}
	r.sort()
	return r, nil
}
