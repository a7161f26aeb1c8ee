package dedup

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"unsafe"

	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/near/shingle"
)

// Bytes of memory for each row that is near another one.
const (
	resultBytes   = 16 // in a [cluster.Result]
	comparedBytes = 40 // while texts are compared: its row, number, text and the location of the set
	dividedBytes  = 20 // in a division
)

// verify divides the clusters by the texts of their documents.
func (s *search) verify(ctx context.Context) (err error) {
	r, v := s.r, s.o.Verify
	if v.Begin != nil {
		v.Begin()
	}
	var arena memory.Arena
	if s.near.Room != nil {
		arena, err = s.near.Room(uint64(r.found.Rows()) * uint64(resultBytes+comparedBytes+dividedBytes*(1+len(s.o.Also))))
	}
	defer arena.Free()
	members := memory.In[Row](&arena, r.found.Rows(), &err)[:0]
	if err != nil {
		return err
	}
	for _, c := range r.found.Clusters() {
		members = append(members, c.Rows...)
	}
	slices.Sort(members)
	texts, of, err := s.distinct(&arena, members) // equal ones are read and held once
	if err != nil {
		return err
	}
	sets, err := s.newSets(&arena, len(texts), v.memory())
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, sets.Close()) }()
	if v.Sets != nil {
		err = v.Sets(ctx, s.c, texts, sets)
	} else {
		err = s.c.from.shingles(ctx, v.Meter, sets, texts)
	}
	if err = cmp.Or(err, sets.End()); err != nil {
		return err
	}
	get := func(row Row, buf *[]uint64) []uint64 {
		i, _ := slices.BinarySearch(members, row)
		return sets.Get(int(of[i]), buf)
	}
	for _, also := range s.o.Also {
		other := s.other()
		other.found = r.found
		o, v := s.o, *v
		o.K, v.Rule, o.Verify = also.K, also.Rule, &v
		if err := s.settle(ctx, other, o, false, get); err != nil {
			return err
		}
		r.Also = append(r.Also, other)
	}
	return s.settle(ctx, r, s.o, true, get)
}

// newSets returns room for n sets, some bytes of them in memory and the rest in a temporary file.
func (s *search) newSets(a *memory.Arena, n int, bytes int64) (*shingle.Sets, error) {
	return shingle.NewSets(a, n, bytes, s.c.o.TempDir, s.c.o.Disk)
}

// distinct returns the first of the members with each text, ascending as the members are, and the number of its text
// for each member. Memory: 4 bytes a member, and 16 if texts have hashes.
func (s *search) distinct(a *memory.Arena, members []Row) (firsts []Row, of []uint32, err error) {
	of = memory.In[uint32](a, len(members), &err)
	for i := range of {
		of[i] = uint32(i)
	}
	hash := s.c.hashes.All
	if len(hash) == 0 || err != nil {
		return members, of, err
	}
	firsts = memory.In[Row](a, len(members), &err)[:0]
	number := memory.In[uint32](a, len(members), &err)
	if err != nil {
		return nil, nil, err
	}
	copy(number, of)
	slices.SortFunc(number, func(a, b uint32) int {
		x, y := hash[members[a]], hash[members[b]]
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(a, b))
	})
	for i, m := range number[min(1, len(number)):] {
		if before := number[i]; hash[members[m]] == hash[members[before]] {
			of[m] = of[before]
		}
	}
	for i, first := range of {
		if int(first) == i {
			number[i], firsts = uint32(len(firsts)), append(firsts, members[i])
		}
		of[i] = number[first]
	}
	return firsts, of, nil
}

// settle replaces the clusters of a result by their groups, in place or not. Each goroutine settles small clusters, one
// at a time; all of them settle large ones together.
func (s *search) settle(ctx context.Context, r *Result, o Options, inPlace bool, set setOf) error {
	d, err := divide(r, inPlace)
	if err != nil {
		return err
	}
	var idle sync.Pool // settlers of small clusters
	err = shingle.Each(ctx, s.c.o.Threads, r.found.Len(), func(i int, _ *shingle.Buffers) error {
		c := r.found.Cluster(i)
		if len(c.Rows) >= settleLarge {
			return nil
		}
		one, ok := idle.Get().(*settler)
		if !ok {
			one = newSettler(s.c, o, 1, s.prefer, set)
		}
		groups, err := one.settle(ctx, c.Rows)
		d.add(r.found.At(i), groups)
		idle.Put(one)
		return err
	})
	all := newSettler(s.c, o, s.c.o.Threads, s.prefer, set)
	for i, c := range r.found.Clusters() {
		if err == nil && len(c.Rows) >= settleLarge {
			var groups []group
			groups, err = all.settle(ctx, c.Rows)
			d.add(r.found.At(i), groups)
		}
	}
	if err == nil {
		before := r.found.Rows() - r.found.Len()
		r.found, r.likes = d.Done(), d.likes
		r.Rejected += before - (r.found.Rows() - r.found.Len())
	}
	return err
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
	if d.Division, err = r.found.Divide(arena, inPlace); err != nil {
		return d, err
	}
	likes := memory.In[uint64](arena, r.found.Room(), &err)
	d.likes = unsafe.Slice((*Likeness)(unsafe.Pointer(unsafe.SliceData(likes))), len(likes)) // two float32 each
	return d, err
}

// add adds the groups of a cluster. The first of its rows has a number among those of all clusters.
func (d *division) add(at int, groups []group) {
	for _, g := range groups {
		rows := make([]Row, len(g.members))
		for i, m := range g.members {
			rows[i], d.likes[at+i] = m.row, m.like
		}
		d.Add(at, cluster.Cluster{Rows: rows, Representative: g.kept})
		at += len(rows)
	}
}
