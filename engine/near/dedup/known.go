package dedup

import (
	"cmp"
	"context"
	"errors"

	"ndd/engine/memory"
	"ndd/engine/near/shingle"
)

// errNoTexts is the error for Options.Verify and Options.Known without the texts of known documents.
var errNoTexts = errors.New("verifying needs the texts of the known documents: give their inputs")

// verifyKnown reads the texts of known documents and of the new ones near them. A new document is dropped for the
// nearest known one that the rule allows, the first of several, and stays if the rule allows none. If several known
// documents have one ID, the most similar one that the rule allows counts.
func (s *search) verifyKnown(ctx context.Context) (err error) {
	r, v := s.r, s.o.Verify
	if len(r.Known) == 0 {
		return nil
	}
	rows, ends, ids := candidatesOf(r.Known)
	var arena memory.Arena
	defer arena.Free()
	own, err := s.newSets(&arena, len(rows), v.memory()/2)
	if err != nil {
		return err
	}
	known, err := s.newSets(&arena, 0, v.memory()/2)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, own.Close(), known.Close()) }()
	if err := cmp.Or(s.c.from.shingles(ctx, v.Meter, own, rows), own.End()); err != nil {
		return err
	}
	of, err := known.ReadByID(ctx, v.Known, ids, s.c.from.config(v.Meter))
	if err != nil {
		return err
	}
	chosen := make([]*Drop, len(rows))
	err = shingle.Each(ctx, s.c.o.Threads, len(rows), func(i int, bufs *shingle.Buffers) error {
		from := 0
		if i > 0 {
			from = ends[i-1]
		}
		for j := from; j < ends[i] && chosen[i] == nil; j++ {
			k := &r.Known[j]
			for _, n := range of[ids[k.Kept]] {
				if like, ok := v.Rule.Judge(own.Get(i, &bufs[0]), known.Get(n, &bufs[1])); ok &&
					(chosen[i] == nil || like.Jaccard > k.Jaccard) {
					chosen[i], k.Likeness = k, like
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var found []Drop
	for _, k := range chosen {
		if k != nil {
			found = append(found, *k)
		}
	}
	r.Known = found
	r.Rejected += len(rows) - len(found)
	return nil
}

// candidatesOf returns the rows of a list, the end of the part of the list for each of them, and the IDs of the known
// documents with numbers.
func candidatesOf(list []Drop) (rows []Row, ends []int, ids map[string]uint32) {
	ids = map[string]uint32{}
	for i, k := range list {
		if i == 0 || k.Row != rows[len(rows)-1] {
			rows, ends = append(rows, k.Row), append(ends, i)
		}
		ends[len(ends)-1]++
		if _, ok := ids[k.Kept]; !ok {
			ids[k.Kept] = uint32(len(ids))
		}
	}
	return rows, ends, ids
}
