package postings

import (
	"context"
	"math"
	"slices"
	"sort"
)

// An Index is the inverted index of some documents' sets; see the package comment.
type Index struct {
	docs   []uint32 // by rank: the document
	sizes  []uint32 // by rank: signatures, those that are not stored among them
	sets   csr      // by rank: numbers of signatures
	lists  csr      // by number of signature: ranks
	common int      // numbers from this one are of signatures that are too frequent to find candidates

	numbers *numbers            // of a Slice: to look signatures up
	equal   map[uint32][]uint32 // of a Slice: by rank, documents with equal sets
}

// csr are lists of numbers, one behind the other.
type csr struct {
	ends   []uint64
	values []uint32
}

func (c *csr) at(i int) []uint32 {
	from := uint64(0)
	if i > 0 {
		from = c.ends[i-1]
	}
	return c.values[from:c.ends[i]]
}

// A slicing says which documents an index has, and which signatures.
type slicing struct {
	docs     []uint32 // in order of size
	frequent []uint64 // signatures that find no candidates, ascending
	repeated *repeated
	single   bool // also those of one document, which others may be compared with
	threads  int
}

// Slice returns the index of all sets, for a [Searcher] of sets that are not in it. It empties the Builder. The error is of
// ctx, of a temporary file, or [ErrTooMany].
func (b *Builder) Slice(ctx context.Context, threads int) (*Index, error) {
	if err := b.seal(); err != nil {
		return nil, err
	}
	r, err := b.rank(ctx, threads)
	if err != nil {
		return nil, err
	}
	x, err := b.index(ctx, slicing{docs: r.docs, single: true, threads: threads})
	if err != nil {
		return nil, err
	}
	x.equal = map[uint32][]uint32{}
	groups := map[uint32][]uint32{}
	for _, g := range r.equal {
		groups[g[0]] = g
	}
	for rank, doc := range x.docs {
		if g := groups[doc]; g != nil {
			x.equal[uint32(rank)] = g
		}
	}
	return x, b.Close()
}

// index returns the index of some documents.
func (b *Builder) index(ctx context.Context, s slicing) (*Index, error) {
	x := &Index{docs: s.docs, sizes: make([]uint32, len(s.docs))}
	var kept []uint64 // signatures of all documents, one behind the other
	ends := make([]int, len(s.docs))
	for i, d := range x.docs {
		x.sizes[i] = uint32(b.size(d))
		kept = s.repeated.keep(kept, b.set(d))
		ends[i] = len(kept)
	}
	n, err := number(ctx, kept, s)
	if err != nil {
		return nil, err
	}
	x.common = n.common
	if err := x.store(ctx, kept, ends, n); err != nil {
		return nil, err
	}
	if s.single {
		x.numbers = n
	}
	return x, nil
}

// numbers gives signatures their numbers.
type numbers struct {
	slots  []slot // open addressing
	shift  uint
	count  int
	common int
}

type slot struct {
	hash   uint64 // as it is: 0 may be a signature
	number uint32 // from 1; 0: free
}

func (n *numbers) find(hash uint64) *slot {
	mask := uint64(len(n.slots) - 1)
	for i := hash * 0x9e3779b97f4a7c15 >> n.shift; ; i = (i + 1) & mask {
		if s := &n.slots[i]; s.number == 0 || s.hash == hash {
			return s
		}
	}
}

// number counts signatures and numbers them, the rarest first, equal ones by hash, and those last that find no candidates.
func number(ctx context.Context, signatures []uint64, s slicing) (*numbers, error) {
	least := 2
	if s.single {
		least = 1
	}
	n := &numbers{shift: 63}
	var hashes []uint64
	var counts []uint32 // of each: documents, one more than there are where it is too frequent
	err := frequencies(ctx, [][]uint64{signatures}, s.threads, 0, func(hash uint64, documents int) {
		if documents < least {
			return
		}
		if _, ok := slices.BinarySearch(s.frequent, hash); ok {
			documents = len(s.docs) + 1
		} else {
			n.common++
		}
		hashes, counts = append(hashes, hash), append(counts, uint32(documents))
	})
	if err != nil {
		return nil, err
	}
	if uint64(len(hashes)) >= math.MaxUint32 {
		return nil, ErrTooMany
	}
	n.count = len(hashes)
	for len(hashes)*3/2 >= 1<<(64-n.shift) {
		n.shift--
	}
	n.slots = make([]slot, 1<<(64-n.shift))
	starts := make([]uint32, len(s.docs)+3) // of the numbers of each count
	for _, c := range counts {
		starts[c+1]++
	}
	for c := range starts[1:] {
		starts[c+1] += starts[c]
	}
	for i, hash := range hashes {
		starts[counts[i]]++
		*n.find(hash) = slot{hash, starts[counts[i]]}
	}
	return n, ctx.Err()
}

// store writes both directions of the index.
func (x *Index) store(ctx context.Context, kept []uint64, ends []int, n *numbers) error {
	x.sets.ends = make([]uint64, len(x.docs))
	counts := make([]uint64, n.count)
	at := 0
	for rank, end := range ends {
		if rank%65536 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		from := len(x.sets.values)
		for _, hash := range kept[at:end] {
			if s := n.find(hash); s.number != 0 {
				x.sets.values = append(x.sets.values, s.number-1)
				counts[s.number-1]++
			}
		}
		at = end
		slices.Sort(x.sets.values[from:])
		x.sets.ends[rank] = uint64(len(x.sets.values))
	}
	x.lists.ends = counts
	sum := uint64(0)
	for i, c := range counts {
		x.lists.ends[i] = sum // where it begins, for now
		sum += c
	}
	x.lists.values = make([]uint32, sum)
	for rank := range x.docs {
		for _, number := range x.sets.at(rank) {
			x.lists.values[x.lists.ends[number]] = uint32(rank)
			x.lists.ends[number]++
		}
	}
	return ctx.Err()
}

// rankOf returns the first rank whose document has at least so many signatures.
func (x *Index) rankOf(size int) int {
	return sort.Search(len(x.sizes), func(i int) bool { return int(x.sizes[i]) >= size })
}
