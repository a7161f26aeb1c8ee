package dedup

import (
	"fmt"
	"math"

	"github.com/minio/highwayhash"

	"ndd/engine/near/cluster"
	"ndd/engine/storage/store"
)

// comparison returns a hash of what a comparison of texts depends on beside these.
func (c *Corpus) comparison(o Options) ([]byte, error) {
	h, err := highwayhash.New(make([]byte, highwayhash.Size))
	if err != nil {
		return nil, err
	}
	s := &c.o.Source
	fmt.Fprintf(h, "%d %v %q %v %q %q %q %q %d\n", o.K, o.Chains, fmt.Sprint(o.Verify.Rule), c.o.Keep, s.Field, s.Prefer,
		s.Protect, c.o.SameURL, c.Len())
	_, err = h.Write(store.Bytes64(c.prints.All))
	return h.Sum(nil), err
}

// verdicts returns the clusters and likenesses, and how many documents were rejected:
//
//	rejected | number of rows, the one that is kept, rows, likenesses | ...
func (r *Result) verdicts() []uint64 {
	list := append(make([]uint64, 0, 1+2*r.Len()+2*r.found.Rows()), uint64(r.Rejected))
	for c := range r.Clusters() {
		list = append(list, uint64(len(c.Rows)), uint64(c.Kept))
		for _, row := range c.Rows {
			list = append(list, uint64(row))
		}
		for _, l := range c.Likes {
			list = append(list, uint64(math.Float32bits(l.Jaccard))<<32|uint64(math.Float32bits(l.Contained)))
		}
	}
	return list
}

// decide replaces the clusters by those of some verdicts, and reports whether there are any.
func (r *Result) decide(list []uint64) bool {
	if len(list) == 0 {
		return false
	}
	rejected := int(list[0])
	found, likes := new(cluster.Result), []Likeness{}
	for list = list[1:]; len(list) > 2; {
		n := int(list[0])
		if n < 2 || n > (len(list)-2)/2 || list[1] >= uint64(r.corpus.Len()) {
			return false
		}
		rows := make([]Row, n)
		for i, row := range list[2:][:n] {
			rows[i] = Row(row)
			like := list[2+n+i]
			likes = append(likes, Likeness{math.Float32frombits(uint32(like >> 32)), math.Float32frombits(uint32(like))})
		}
		found.Append(cluster.Cluster{Rows: rows, Representative: Row(list[1])})
		list = list[2+2*n:]
	}
	if len(list) > 0 {
		return false
	}
	r.found, r.likes, r.Rejected = found, likes, rejected
	return true
}
