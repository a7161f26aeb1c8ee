package dedup

import (
	"cmp"
	"context"
	"slices"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/shingle"
)

// settleTexts divides the clusters by the texts of their documents, which are read again.
func (s *search) settleTexts(ctx context.Context) (err error) {
	t := s.o.Texts
	if t.Begin != nil {
		t.Begin()
	}
	// Collect the members of all clusters, with each distinct text only once.
	arena := s.c.room.arena()
	defer arena.Free()
	members := memory.Alloc[Row](&arena, s.r.clusters.Rows(), &err)[:0]
	if err != nil {
		return err
	}
	for _, c := range s.r.clusters.Clusters() {
		members = append(members, c.Rows...)
	}
	slices.Sort(members)
	texts, numbers, err := s.distinct(&arena, members) // equal texts are read and held once
	if err != nil {
		return err
	}
	// Read the texts again, and store their shingles.
	sets, err := shingle.NewSets(&arena, len(texts), t.memory(), s.c.o.TempDir, s.c.o.Disk)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, sets.Close()) }()
	if err := cmp.Or(s.c.from.shingles(ctx, t.Meter, sets, texts), sets.End()); err != nil {
		return err
	}
	// Divide the clusters by the shingles of their members.
	s.set = func(row Row, buf *[]uint64) []uint64 {
		i, _ := slices.BinarySearch(members, row)
		return sets.Get(int(numbers[i]), buf)
	}
	return s.settle(ctx, s.set.judge(s.o.Rule))
}

// distinct returns the first member with each text, in ascending order like members. For each member it returns the
// index of its text in firsts. It takes 4 bytes of memory a member, and 12 more if texts have hashes.
func (s *search) distinct(a *memory.Arena, members []Row) (firsts []Row, numbers []uint32, err error) {
	numbers = memory.Alloc[uint32](a, len(members), &err)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	hash := s.c.hashes.All
	if len(hash) == 0 || err != nil {
		return members, numbers, err
	}
	firsts = memory.Alloc[Row](a, len(members), &err)[:0]
	number := memory.Alloc[uint32](a, len(members), &err)
	if err != nil {
		return nil, nil, err
	}
	copy(number, numbers)
	slices.SortFunc(number, func(a, b uint32) int {
		x, y := hash[members[a]], hash[members[b]]
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(a, b))
	})
	for i, m := range number[min(1, len(number)):] {
		if before := number[i]; hash[members[m]] == hash[members[before]] {
			numbers[m] = numbers[before]
		}
	}
	for i, first := range numbers {
		if int(first) == i {
			number[i], firsts = uint32(len(firsts)), append(firsts, members[i])
		}
		numbers[i] = number[first]
	}
	return firsts, numbers, nil
}
