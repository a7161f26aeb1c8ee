package dedup

import (
	"cmp"
	"context"
	"slices"

	"ndd/engine/memory"
)

// Equal reports whether two documents are known to have the same text: those of fingerprint files have
// no hashes.
func (r *Result) Equal(a, b Row) bool {
	h := r.corpus.hashes.All
	return len(h) > 0 && h[a] == h[b]
}

// distinct returns the first of the members with each text, ascending as the members are, and for each
// member the number of its text: 4 bytes a member, and where texts have hashes 16.
func (c *Corpus) distinct(a *memory.Arena, members []Row) (firsts []Row, of []uint32, err error) {
	of = memory.In[uint32](a, len(members), &err)
	for i := range of {
		of[i] = uint32(i)
	}
	hash := c.hashes.All
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

// settleEqual leaves in each cluster the documents that have the text of the one kept, as if the second half of its
// hash were its only shingle. The clusters are of documents whose hashes begin with the same 64 bits.
func (r *Result) settleEqual(ctx context.Context, o Options, prefer func(a, b int) int) error {
	o.Verify = &Verify{Rule: Rule{{Jaccard: 1}}}
	err := r.settle(ctx, o, true, prefer, func(row Row, _ *[]uint64) []uint64 { return r.corpus.hashes.All[row][1:] })
	r.Rejected = 0
	return err
}
