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
	Threads int // goroutines; 0 or less: as many as there are processors

	// Prefer orders rows: it is negative when document a should be kept
	// rather than b. Rows that it calls equal, and all rows when it is nil,
	// are preferred in order. It is called from many goroutines.
	Prefer func(a, b int) int

	Meter *Meter // counts what is done so far; nil: nobody looks

	// Memory is how many bytes the search may take beside the fingerprints, as long as few documents
	// are near others; default [Options.NeedBytes], with fewer than which it does not do.
	Memory uint64

	// Room, if not nil, returns an empty arena for so many bytes that a step takes, one at a time: of memory,
	// or of a file where memory does not do. Its error ends the search.
	Room func(bytes uint64) (memory.Arena, error)

	// Results, if not nil, is where the result is, until it is freed; default the Go heap.
	Results *memory.Arena
}

// A Meter counts what [Find] has done so far. Anyone may read it at any time.
type Meter struct {
	Total    atomic.Int64 // fingerprints to compare, once for each table; 0 while that is unknown
	Compared atomic.Int64 // of them
	Joined   atomic.Int64 // how many fewer clusters there are so far than distinct fingerprints, single ones counted
}

// withDefaults returns o with defaults for what the caller left empty.
func (o Options) withDefaults() Options {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	o.Meter = cmp.Or(o.Meter, new(Meter))
	return o
}

const (
	// CandidateBytes is the memory that a document takes that may be near another: its row and its
	// place in the order of fingerprints, 4 bytes each, those of its cluster in the result, 16, and 20
	// while it is compared.
	CandidateBytes = 44

	// DirectMax is the number of documents up to which all are compared as if each had a near one.
	DirectMax = 1 << 20

	nearShare = 8 // of the documents may be near others in the memory of NeedBytes
	roomShare = 2 // of them have room at a time while it is found out which are
)

// NeedBytes returns the memory that [Find] takes for that many documents beside their fingerprints:
// [CandidateBytes] for each document that is near another, an eighth of all, in which there is room
// for 4 bytes for each and a filter of one before those are known; and the sort's
// buckets. More documents near others take more; see Room.
func (o Options) NeedBytes(documents uint64) uint64 {
	o = o.withDefaults()
	if documents <= DirectMax {
		return CandidateBytes*documents + o.fixedBytes()
	}
	return CandidateBytes*documents/nearShare + o.fixedBytes()
}

// fixedBytes returns the memory beside that.
func (o Options) fixedBytes() uint64 { return uint64(o.Threads) << 21 }

// A Row is the number of a document, from 0.
type Row uint64

// A Cluster is a set of documents of which one is to be kept.
type Cluster struct {
	Rows           []Row // ascending; not to be written
	Representative Row   // the row preferred most
}

// A Result is what [Find] found. It may be read from many goroutines.
type Result struct {
	Distinct int // fingerprints

	rows     []Row // of the clusters
	gone     int   // of the rows, in no cluster any more
	clusters []span
}

// A span is the rows of one cluster, rows[from:to], both in the first word, and the one preferred most.
type span [2]uint64

func spanOf(from, to int, best Row) span { return span{uint64(from)<<32 | uint64(to), uint64(best)} }
func (s span) from() int                 { return int(s[0] >> 32) }
func (s span) to() int                   { return int(uint32(s[0])) }

// Len returns the number of clusters.
func (r *Result) Len() int { return len(r.clusters) }

// Room returns the number of rows that there is room for.
func (r *Result) Room() int { return len(r.rows) }

// Rows returns the number of documents in clusters.
func (r *Result) Rows() int { return len(r.rows) - r.gone }

// Cluster returns the cluster of a number from 0.
func (r *Result) Cluster(i int) Cluster {
	s := r.clusters[i]
	return Cluster{r.rows[s.from():s.to():s.to()], Row(s[1])}
}

// At returns where the rows of a cluster are among those of all, from 0 and below Room.
func (r *Result) At(i int) int { return r.clusters[i].from() }

// A Division replaces each cluster of a result by groups of its rows. Groups of different clusters may be
// added by several goroutines.
type Division struct {
	*Result
	rows   []Row
	groups []span // the one that begins at row i in groups[i/2]; since each has two or more, no two are in one place
}

// Divide returns a division without any groups. In place, it uses the memory of the result's rows, which is
// then gone. Its own is in the arena: 4 bytes a row in place, else 12.
func (r *Result) Divide(a *memory.Arena, inPlace bool) (d *Division, err error) {
	d = &Division{Result: r, rows: r.rows, groups: memory.In[span](a, (len(r.rows)+1)/2, &err)}
	if !inPlace {
		d.rows = memory.In[Row](a, len(r.rows), &err)
	}
	return d, err
}

// Add adds a group of two rows or more of a cluster, which begins at number at of the result's rows: behind
// the other groups of the cluster, whose rows are not needed any more if the division is in place.
func (d *Division) Add(at int, c Cluster) {
	copy(d.rows[at:], c.Rows)
	d.groups[at/2] = spanOf(at, at+len(c.Rows), c.Representative)
}

// Done returns the groups as clusters.
func (d *Division) Done() *Result {
	r := &Result{Distinct: d.Distinct, rows: d.rows, gone: len(d.rows)}
	r.clusters = slices.DeleteFunc(d.groups, func(s span) bool { return s.to() == 0 })
	for _, s := range r.clusters {
		r.gone -= s.to() - s.from()
	}
	r.sort()
	return r
}

// sort puts the clusters in order of their first rows.
func (r *Result) sort() {
	slices.SortFunc(r.clusters, func(a, b span) int { return cmp.Compare(r.rows[a.from()], r.rows[b.from()]) })
}

// Map replaces each row by the one of its number in a list, which is ascending.
func (r *Result) Map(rows []Row) {
	for i, row := range r.rows {
		r.rows[i] = rows[row]
	}
	for i := range r.clusters {
		r.clusters[i][1] = uint64(rows[r.clusters[i][1]])
	}
}

// Clusters returns all clusters, of two documents or more, in order of their first rows, with their
// numbers from 0.
func (r *Result) Clusters() iter.Seq2[int, Cluster] {
	return func(yield func(int, Cluster) bool) {
		for i := range r.clusters {
			if !yield(i, r.Cluster(i)) {
				return
			}
		}
	}
}

// Find returns the clusters of documents, one fingerprint a row. The result depends on nothing but
// the fingerprints, K and Prefer. Memory: [Options.NeedBytes]. The error is that of ctx, or
// of memory that is not there.
//
// Clusters are the connected components: near pairs may chain, so distances can exceed K. Documents with
// one fingerprint are in one cluster.
//
// Of many documents it first finds out which have a near one, or one that is equal: it joins all
// fingerprints, with room for some of them at a time, and keeps a bit for the hash of each that it
// finds. Those documents alone are then compared with each other, with all that this takes:
//
//	fingerprints --join--> filter --each row--> candidates --sort, join, union-find--> clusters
//	8n                     n                    44 bytes each
//
// For 1e9 raw fingerprints that is 8 GB, mapped, 4 GB of room and 1 GB for the filter; and where
// 5 % have a near one, 2.2 GB when the room is free again. The join takes 8 or 9 tables, some 80 ns
// a fingerprint and thread, and 3 ns to read it once more for each.
func Find(ctx context.Context, all Prints, o Options) (*Result, error) {
	o = o.withDefaults()
	c, err := o.candidates(ctx, &all)
	if err != nil {
		return nil, err
	}
	defer c.arena.Free()
	p, err := newPrints(ctx, c, o)
	if err != nil {
		return nil, err
	}
	defer p.free()
	distinct := all.Len() - (c.len - len(p.distinct))
	best, err := p.best()
	if err != nil {
		return nil, err
	}
	roots, err := connect(ctx, p, best)
	if err != nil {
		return nil, err
	}
	p.first.Free() // distinct is not needed any more
	r, err := p.gather(roots, best)
	if err != nil {
		return nil, err
	}
	r.Distinct = distinct
	return r, ctx.Err()
}

// candidates returns the documents to be compared with each other.
func (o *Options) candidates(ctx context.Context, all *Prints) (c *candidates, err error) {
	n := uint64(all.Len())
	if n < 2 || n <= DirectMax && (o.Memory == 0 || CandidateBytes*n+o.fixedBytes() <= o.Memory) {
		return &candidates{all: all, len: int(n)}, nil
	}
	room := n/roomShare + 1
	if beside := o.fixedBytes() + n*filterBits/8; o.Memory > 0 {
		room = min(max((max(o.Memory, beside)-beside)/8, room), n)
	}
	for {
		a, err := o.room(8*room+n*filterBits/8, all.Len())
		if err != nil {
			return nil, err
		}
		c, err = findNear(ctx, all, *o, int(room), &a)
		if !errors.Is(err, radix.ErrRoom) || room == n {
			return c, err
		}
		room = min(2*room, n) // most are equal in very many bits
		o.Meter.Total.Store(o.Meter.Compared.Load())
	}
}

// room returns an arena for some bytes, of the search in a number of documents, and the fixed ones.
func (o *Options) room(bytes uint64, documents int) (memory.Arena, error) {
	if o.Room == nil {
		return memory.Arena{}, nil
	}
	return o.Room(bytes + o.fixedBytes())
}

// connect returns for each fingerprint the root of its cluster.
func connect(ctx context.Context, p *prints, best []uint32) (roots []uint32, err error) {
	u := NewUnionFind(memory.In[uint32](&p.memory, len(p.distinct), &err))
	if err != nil {
		return nil, err
	}
	if len(u) > 1 {
		room := memory.BufferIn[uint64](&p.first, len(u), &err)
		if err != nil {
			return nil, err
		}
		defer room.Free()
		d := Choose(len(u), p.K)
		p.Meter.Total.Add(int64(len(u) * len(d.Tables)))
		err = joinForest(ctx, radix.Chunks{p.distinct}, room.Data, d, p.Threads, p.Meter, func(a uint64, near []uint64) {
			x := p.index(a)
			for _, b := range near {
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

// listComponents returns the components of all roots, for which it takes 8 bytes a fingerprint.
func listComponents(a *memory.Arena, roots []uint32) (c components, err error) {
	c.list = memory.In[uint32](a, len(roots), &err)
	if c.ends = memory.In[uint32](a, len(roots), &err); err != nil {
		return c, err
	}
	for _, root := range roots {
		c.ends[root]++
	}
	at := uint32(0)
	for i, n := range c.ends {
		c.ends[i] = at
		at += n
	}
	for i, root := range roots { // this moves the beginning of each component to its end
		c.list[c.ends[root]] = uint32(i)
		c.ends[root]++
	}
	return c, nil
}

// of returns the component of a root, ascending; it is empty for other fingerprints.
func (c *components) of(root int) []uint32 {
	from := uint32(0)
	if root > 0 {
		from = c.ends[root-1]
	}
	return c.list[from:c.ends[root]]
}

// gather returns the rows of the fingerprints that have the same root, where they are two or more.
func (p *prints) gather(roots, best []uint32) (*Result, error) {
	all, err := listComponents(&p.memory, roots)
	if err != nil {
		return nil, err
	}
	clusters, rows := 0, 0
	for root := range roots {
		if n := p.countRows(all.of(root)); n > 1 {
			clusters, rows = clusters+1, rows+n
		}
	}
	r := new(Result)
	if a := p.Results; a != nil {
		r.clusters, r.rows = memory.In[span](a, clusters, &err)[:0], memory.In[Row](a, rows, &err)[:0]
	}
	if err != nil {
		return nil, err
	}
	for root := range roots {
		members, from := all.of(root), len(r.rows)
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
