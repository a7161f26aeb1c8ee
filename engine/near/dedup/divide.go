package dedup

import (
	"context"
	"sync"
	"unsafe"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/near/shingle"
)

// settle replaces the clusters of the result by groups of rows that are alike. judge compares two documents; nil means
// that sketches are compared. Each goroutine settles small clusters, one at a time. All goroutines settle a large
// cluster together.
func (s *search) settle(ctx context.Context, judge judge) error {
	r := s.r
	protected := s.protectedIn(r.clusters) // before it is divided in place
	d, err := divide(r)
	if err != nil {
		return err
	}
	// The likeness of a kept document to itself depends on what is compared.
	self := same
	if !r.verified {
		self = Likeness{}
	} else if judge == nil {
		self = Likeness{Jaccard: 1}
	}
	newSettler := func(threads int) *settler {
		return &settler{corpus: s.c, o: s.o, prefer: s.prefer, judge: judge, self: self, set: s.set, threads: threads, part: settlePart}
	}
	// Settle the small clusters, each in one goroutine.
	var idle sync.Pool // settlers of small clusters
	err = shingle.Each(ctx, s.c.o.Threads, r.clusters.Len(), func(i int, _ *shingle.Buffers) error {
		c := r.clusters.Cluster(i)
		if len(c.Rows) >= settleLarge {
			return nil
		}
		worker, ok := idle.Get().(*settler)
		if !ok {
			worker = newSettler(1)
		}
		groups, err := worker.settle(ctx, c.Rows)
		d.add(r.clusters.At(i), groups, &worker.rows)
		idle.Put(worker)
		return err
	})
	// Settle the large clusters, each in all goroutines.
	all := newSettler(s.c.o.Threads)
	for i, c := range r.clusters.Clusters() {
		if err == nil && len(c.Rows) >= settleLarge {
			var groups []group
			groups, err = all.settle(ctx, c.Rows)
			d.add(r.clusters.At(i), groups, &all.rows)
		}
	}
	// Count the rows that no group has any more.
	if err == nil {
		before := r.clusters.Rows() - r.clusters.Len()
		r.clusters, r.likes = d.Done(), d.likes
		if r.verified {
			r.Protected = protected
			r.Rejected = before - protected - (r.clusters.Rows() - r.clusters.Len())
		}
	}
	return err
}

// protectedIn returns the number of protected rows in clusters, without the first one of each cluster.
func (s *search) protectedIn(clusters *cluster.Result) (n int) {
	if len(s.c.sources.Protected()) == 0 {
		return 0
	}
	for _, c := range clusters.Clusters() {
		rows := 0
		for _, row := range c.Rows {
			rows += s.c.sources.Protected().Bit(int(row))
		}
		n += max(rows-1, 0)
	}
	return n
}

// anyJudge allows every drop of a near document.
func anyJudge(Row, Row, *shingle.Buffers) (Likeness, bool) { return Likeness{}, true }

// hashJudge compares the hashes of whole texts.
func (s *search) hashJudge(row, kept Row, _ *shingle.Buffers) (Likeness, bool) {
	return same, s.c.hashes.All[row] == s.c.hashes.All[kept]
}

// A division replaces the clusters of a result by groups of their rows, with likenesses.
type division struct {
	*cluster.Division
	likes []Likeness
}

// divide returns a division of the clusters without groups, as [cluster.Result.Divide] does, in the memory of the
// corpus for results.
func divide(r *Result) (d division, err error) {
	arena := &r.corpus.room.results
	if d.Division, err = r.clusters.Divide(arena); err != nil {
		return d, err
	}
	likes := memory.Alloc[uint64](arena, r.clusters.Room(), &err)
	d.likes = unsafe.Slice((*Likeness)(unsafe.Pointer(unsafe.SliceData(likes))), len(likes)) // two float32 each
	return d, err
}

// add adds the groups of a cluster. index is that of the cluster's first row in the list of all rows; see
// [cluster.Result.At]. It overwrites rows.
func (d *division) add(index int, groups []group, rows *[]Row) {
	for _, g := range groups {
		*rows = (*rows)[:0]
		for i, m := range g.members {
			*rows, d.likes[index+i] = append(*rows, m.row), m.likeness
		}
		d.Add(index, cluster.Cluster{Rows: *rows, Representative: g.kept})
		index += len(*rows)
	}
}
