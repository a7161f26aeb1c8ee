package postings

import (
	"math/bits"
	"sort"
)

// partitionSize is about how many signatures a partition has: with the tables that find equal ones among them they fit a
// cache of 2 MiB.
const partitionSize = 1 << 15

// A partitioning divides signatures by their leading bits, and documents between threads, and counts what each thread has of each partition.
type partitioning struct {
	shift  int        // of a signature, to its partition
	ranges []span     // of documents, by thread
	counts [][]uint64 // by thread and partition: signatures
}

// partitioning returns one that has counted nothing yet.
func (b *Builder) partitioning(threads int) *partitioning {
	p := &partitioning{shift: 64 - max(bits.Len64(b.total()/partitionSize), 1), counts: make([][]uint64, threads)}
	p.ranges = spans(len(b.ends), threads, b.total(), func(doc int) uint64 { return uint64(b.size(uint32(doc))) })
	for thread := range p.counts {
		p.counts[thread] = make([]uint64, 1<<(64-p.shift))
	}
	return p
}

// forget takes a document out of what is counted.
func (p *partitioning) forget(doc uint32, set []uint64) {
	thread := sort.Search(len(p.ranges), func(i int) bool { return p.ranges[i].to > int(doc) })
	for _, hash := range set {
		p.counts[thread][hash>>p.shift]--
	}
}

// sizes returns how many signatures each partition has.
func (p *partitioning) sizes() []uint64 {
	sizes := make([]uint64, len(p.counts[0]))
	for i := range sizes {
		for _, counts := range p.counts {
			sizes[i] += counts[i]
		}
	}
	return sizes
}
