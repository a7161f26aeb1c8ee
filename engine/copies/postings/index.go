package postings

import (
	"context"
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

	numbers *numbers            // to look signatures up; nil: those of its documents alone are looked for
	equal   map[uint32][]uint32 // of a Slice: by rank, documents with equal sets
}

// csr are lists of numbers, one behind the other.
type csr struct {
	ends   []uint32
	values []uint32
}

func (c *csr) at(i int) []uint32 { return c.values[c.begin(i):c.ends[i]] }

func (c *csr) begin(i int) uint32 {
	if i == 0 {
		return 0
	}
	return c.ends[i-1]
}

// A slicing says which documents an index has, and which signatures.
type slicing struct {
	docs     []uint32 // in order of size
	frequent []uint64 // signatures that find no candidates, ascending
	repeated *repeated
	single   bool // also those of one document, as others are compared with it
	lasting  bool // the index is not freed
	threads  int
	memory   uint64 // to scatter signatures in; 0: no limit
	most     uint64 // postings; 0: no limit
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

// numbers gives signatures their numbers.
type numbers struct {
	slots  []slot // open addressing
	shift  uint
	buffer *memory.Buffer[slot] // of slots; nil: in the heap
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

// newNumbers returns the slots for so many signatures: outside the heap, in large pages, where they are freed again.
func newNumbers(count int, lasting bool) (n *numbers, err error) {
	n = &numbers{shift: 63}
	for count*3/2 >= 1<<(64-n.shift) {
		n.shift--
	}
	if size := 1 << (64 - n.shift); lasting {
		n.slots = make([]slot, size)
	} else if n.buffer, err = memory.Make[slot](size); err == nil {
		n.slots = n.buffer.Data
	}
	return n, err
}

// free gives the slots back that are outside the heap. It may be called on nil.
func (n *numbers) free() {
	if n != nil {
		n.buffer.Free()
		n.slots = nil
	}
}

// prefetch requests the slots of signatures.
func (n *numbers) prefetch(hashes []uint64, places []uint64) []uint64 {
	places = places[:0]
	for _, hash := range hashes {
		places = append(places, spread(hash)>>n.shift)
	}
	asm.PrefetchAt(n.slots, places)
	return places
}

// rankOf returns the first rank whose document has at least so many signatures.
func (x *Index) rankOf(size int) int {
	return sort.Search(len(x.sizes), func(i int) bool { return int(x.sizes[i]) >= size })
}
