package postings

import (
	"context"
	"math"
	"slices"
	"sort"

	"ndd/asm"
	"ndd/engine/memory"
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
	lasting  bool // the index is used for longer than a call
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
	x, err := b.index(ctx, slicing{docs: r.docs, single: true, lasting: true, threads: threads})
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
		kept = s.repeated.keep(kept, d, b.set(d))
		ends[i] = len(kept)
	}
	n, err := number(ctx, kept, s)
	if err != nil {
		return nil, err
	}
	x.common = n.common
	if err := x.store(ctx, kept, ends, n); err != nil {
		n.free()
		return nil, err
	}
	if s.single {
		x.numbers = n
	} else {
		n.free()
	}
	return x, nil
}

// numbers gives signatures their numbers.
type numbers struct {
	slots  []slot // open addressing
	shift  uint
	count  int
	common int
	buffer *memory.Buffer[slot] // of slots; nil: in the heap
	ends   []uint32             // by documents of a signature: the number behind those with so many
	places []uint64             // of slots, to prefetch
}

// A slot is a signature, as it is, for 0 may be one, and its number, from 1; 0: free.
type slot = [2]uint64

func (n *numbers) find(hash uint64) *slot {
	mask := uint64(len(n.slots) - 1)
	for i := spread(hash) >> n.shift; ; i = (i + 1) & mask {
		if s := &n.slots[i]; s[1] == 0 || s[0] == hash {
			return s
		}
	}
}

// make makes the slots: outside the heap, in large pages, where they are freed again.
func (n *numbers) make(lasting bool) (err error) {
	size := 1 << (64 - n.shift)
	if lasting {
		n.slots = make([]slot, size)
		return nil
	}
	if n.buffer, err = memory.Make[slot](size); err == nil {
		n.slots = n.buffer.Data
	}
	return err
}

// free gives the slots back. It may be called on nil.
func (n *numbers) free() {
	if n != nil {
		n.buffer.Free()
		n.slots = nil
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
	if err := n.make(s.lasting); err != nil {
		return nil, err
	}
	starts := make([]uint32, len(s.docs)+3) // of the numbers of each count
	for _, c := range counts {
		starts[c+1]++
	}
	for c := range starts[1:] {
		starts[c+1] += starts[c]
	}
	for i, hash := range hashes {
		starts[counts[i]]++
		*n.find(hash) = slot{hash, uint64(starts[counts[i]])}
	}
	n.ends = starts
	return n, ctx.Err()
}

// counts returns how many documents have each signature; 0 for those that find no candidates.
func (n *numbers) counts() []uint64 {
	all := make([]uint64, n.count)
	from := 0
	for documents, end := range n.ends {
		for i := from; i < min(int(end), n.common); i++ {
			all[i] = uint64(documents)
		}
		from = max(from, int(end))
	}
	return all
}

// prefetch requests the slots of signatures.
func (n *numbers) prefetch(hashes []uint64) {
	n.places = n.places[:0]
	for _, hash := range hashes {
		n.places = append(n.places, spread(hash)>>n.shift)
	}
	asm.PrefetchAt(n.slots, n.places)
}

// store writes both directions of the index.
func (x *Index) store(ctx context.Context, kept []uint64, ends []int, n *numbers) error {
	x.sets.ends = make([]uint64, len(x.docs))
	x.sets.values = make([]uint32, 0, len(kept))
	counts := n.counts()
	at := 0
	for rank, end := range ends {
		if rank%65536 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if rank+1 < len(ends) {
			n.prefetch(kept[end:ends[rank+1]])
		}
		from := len(x.sets.values)
		for _, hash := range kept[at:end] {
			number := n.find(hash)[1]
			if number == 0 {
				continue
			}
			x.sets.values = append(x.sets.values, uint32(number-1))
			if int(number) > n.common {
				counts[number-1]++
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
