package postings

import "math"

// A limit says which of a document's signatures, counted from the most frequent one, find other documents. Of a document of so many that a counter
// cannot count them, all do.
type limit struct {
	size  uint32
	found uint16 // so many do not: neither larger nor smaller documents
	finds uint16 // so many more do not find larger documents
}

// limits returns what follows of the sizes of documents.
func limits(sizes []uint32, o *Options) []limit {
	all := make([]limit, len(sizes))
	last := limit{}
	for rank, size := range sizes {
		if size != last.size {
			last = limit{size: size}
			if size < zero {
				found := o.Bounds(int(size)).Least - 1
				last.found, last.finds = uint16(found), uint16(o.least(int(size))-1-found)
			}
		}
		all[rank] = last
	}
	return all
}

// shared returns how many of a document's signatures others have, or more.
func (p *prefixes) shared(rank int) int {
	l := &p.limits[rank]
	if l.size >= zero {
		return int(l.size)
	}
	return int(p.counters[rank]&math.MaxUint16) - zero + int(l.found)
}

// foundBy returns how many of a document's signatures it is found by, at most.
func (p *prefixes) foundBy(rank int) uint64 {
	return uint64(max(p.shared(rank)-int(p.limits[rank].found), 0))
}

// frequentOnes are the signatures of too many documents, and how many of them each document has.
type frequentOnes struct {
	signatures int
	counts     []uint32 // by rank
}

// add takes the documents of a signature, of so many documents in all.
func (f *frequentOnes) add(ranks []uint32, documents int) {
	if f.counts == nil {
		f.counts = make([]uint32, documents)
	}
	f.signatures++
	for _, rank := range ranks {
		f.counts[rank]++
	}
}

// documents returns how many documents have such signatures among their rarest.
func (f *frequentOnes) documents(sizes []uint32, o *Options) (n int) {
	for rank, count := range f.counts {
		if count > 0 && int(count) >= o.least(int(sizes[rank])) {
			n++
		}
	}
	return n
}
