package dedup

import (
	"context"
	"sync"
	"unsafe"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/near/shingle"
)

// settleAll replaces the clusters of the result by groups of rows that are alike. It also finds the results of the
// other settings.
func (s *search) settleAll(ctx context.Context, j judgeOf) error {
	for _, setting := range s.o.Settings {
		other := s.other()
		other.clusters = s.r.clusters
		o := s.o
		o.K, o.Rule = setting.K, setting.Rule
		if err := s.settle(ctx, other, o, false, j); err != nil {
			return err
		}
		s.r.Others = append(s.r.Others, other)
	}
	return s.settle(ctx, s.r, s.o, true, j)
}

// settle replaces the clusters of a result by their groups, in place or not. Each goroutine settles small clusters, one
// at a time. All goroutines settle a large cluster together.
func (s *search) settle(ctx context.Context, r *Result, o Options, inPlace bool, j judgeOf) error {
	protected := s.protectedIn(r.clusters) // before it is divided in place
	d, err := divide(r, inPlace)
	if err != nil {
		return err
	}
	// The likeness of a kept document to itself depends on what is compared.
	judge, self := j(o.Rule), same
	if !r.verified {
		self = Likeness{}
	} else if judge == nil {
		self = Likeness{Jaccard: 1}
	}
	newSettler := func(threads int) *settler {
		return &settler{corpus: s.c, o: o, prefer: s.prefer, judge: judge, self: self, set: s.set, threads: threads, part: settlePart}
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
			r.Protected += protected
			r.Rejected += before - protected - (r.clusters.Rows() - r.clusters.Len())
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

// A judgeOf returns the judge of a rule, or nil to compare sketches.
type judgeOf func(Rule) judge

// sketchJudge selects the comparison of sketches.
func sketchJudge(Rule) judge { return nil }

// anyJudge allows every drop of a near document.
func anyJudge(Rule) judge {
	return func(Row, Row, *shingle.Buffers) (Likeness, bool) { return Likeness{}, true }
}

// hashJudge compares the hashes of whole texts.
func (s *search) hashJudge(Rule) judge {
	hash := s.c.hashes.All
	return func(row, kept Row, _ *shingle.Buffers) (Likeness, bool) { return same, hash[row] == hash[kept] }
}

// A division replaces the clusters of a result by groups of their rows, with likenesses.
type division struct {
	*cluster.Division
	likes []Likeness
}

// divide returns a division of the clusters without groups, as [cluster.Result.Divide] does, in the memory of the
// corpus for results.
func divide(r *Result, inPlace bool) (d division, err error) {
	arena := &r.corpus.room.results
	if d.Division, err = r.clusters.Divide(arena, inPlace); err != nil {
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
