package postings

import "math"

// The memory of a join is divided in eight parts. What is scattered takes scatterShare of them and is gone before the lists of a slice take listShare,
// and its queries queryShare; resultShare is for the lists of partitions, and for the postings that pairs are found by.
const (
	shares       = 8
	scatterShare = 5
	resultShare  = 2
	listShare    = 3
	queryShare   = 2

	// listBytes is what a posting of a slice takes, with what its list does if it has no other, and queryBytes one of a query while these are
	// put in order.
	listBytes  = 4 + 4
	queryBytes = 4 + 8
)

// share returns so many parts of the memory, 0 where that has no limit.
func (o *Options) share(parts uint64) uint64 { return o.MemoryBytes / shares * parts }

// slices returns the ends of the slices of documents: as many as were asked for, or as many as memory needs, of about the same number of
// postings each.
func (p *prefixes) slices(o *Options) (ends []int) {
	total := uint64(0)
	for rank := range p.limits {
		total += p.foundBy(rank)
	}
	n := uint64(o.Slices)
	if n == 0 {
		n = 1 + total/o.most(listShare, listBytes)
	}
	docs := len(p.limits)
	n = max(min(n, uint64(docs)), 1)
	sum := uint64(0)
	for rank := range p.limits {
		sum += p.foundBy(rank)
		if sum >= total*uint64(len(ends)+1)/n && len(ends) < int(n)-1 {
			ends = append(ends, rank+1)
		}
	}
	return append(ends, docs)
}

// most returns how many postings, of so many bytes, some parts of the memory have.
func (o *Options) most(parts, bytes uint64) uint64 {
	most := uint64(math.MaxUint32 / 2)
	if o.MemoryBytes > 0 {
		most = min(most, o.share(parts)/bytes)
	}
	return max(most, 1)
}
