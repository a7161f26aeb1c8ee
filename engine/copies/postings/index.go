package postings

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"ndd/engine/copies/signature"
	"ndd/engine/index/radix"
)

// ErrTooMany says that there are more documents or stored signatures than 32 bits can number.
var ErrTooMany = errors.New("more than 2^32 documents or signatures")

// A Builder takes sets. The zero value is empty.
type Builder struct {
	hashes []uint64
	ends   []uint64 // of the documents' sets in hashes
}

// Add adds the set of the next document: hashes, ascending, each once. It may be empty: such a document is in no
// pair.
func (b *Builder) Add(set []uint64) {
	b.hashes = append(b.hashes, set...)
	b.ends = append(b.ends, uint64(len(b.hashes)))
}

// Documents returns how many sets have been added.
func (b *Builder) Documents() int { return len(b.ends) }

// An Index is the inverted index of a Builder's sets; see the package comment.
type Index struct {
	docs  []uint32 // by rank: the document
	sizes []uint32 // by rank: signatures, those that are not stored among them
	sets  csr      // by rank: numbers of signatures
	lists csr      // by number of signature: ranks
	equal [][]uint32
	empty int
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

// Build returns the index of the sets, and empties the Builder. The error is of ctx, or [ErrTooMany].
func (b *Builder) Build(ctx context.Context, threads int) (*Index, error) {
	if uint64(len(b.ends)) > math.MaxUint32 {
		return nil, ErrTooMany
	}
	x := new(Index)
	x.rank(b)
	numbers, err := b.number(ctx, threads)
	if err != nil {
		return nil, err
	}
	if err := x.store(ctx, b, numbers); err != nil {
		return nil, err
	}
	*b = Builder{}
	return x, nil
}

// set returns a document's set.
func (b *Builder) set(doc int) []uint64 {
	from := uint64(0)
	if doc > 0 {
		from = b.ends[doc-1]
	}
	return b.hashes[from:b.ends[doc]]
}

// rank orders documents by size, and then by number, leaving out empty ones and all but the first of equal ones.
func (x *Index) rank(b *Builder) {
	first := make(map[uint64][]uint32, len(b.ends))
	groups := map[uint32]int{} // by first document: its place in x.equal
	for doc := range b.ends {
		set := b.set(doc)
		if len(set) == 0 {
			x.empty++
			continue
		}
		key := uint64(0)
		for _, hash := range set {
			key = signature.Fold(key, hash)
		}
		at := slices.IndexFunc(first[key], func(d uint32) bool { return slices.Equal(b.set(int(d)), set) })
		if at < 0 {
			first[key] = append(first[key], uint32(doc))
			x.docs = append(x.docs, uint32(doc))
			continue
		}
		d := first[key][at]
		g, ok := groups[d]
		if !ok {
			g = len(x.equal)
			groups[d] = g
			x.equal = append(x.equal, []uint32{d})
		}
		x.equal[g] = append(x.equal[g], uint32(doc))
	}
	slices.SortFunc(x.docs, func(a, c uint32) int {
		return cmp.Or(cmp.Compare(len(b.set(int(a))), len(b.set(int(c)))), cmp.Compare(a, c))
	})
	x.sizes = make([]uint32, len(x.docs))
	for i, d := range x.docs {
		x.sizes[i] = uint32(len(b.set(int(d))))
	}
}

// numbers gives each signature that two documents have its number.
type numbers struct {
	slots []slot // open addressing
	shift uint
	count int
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

// number counts signatures and numbers those of at least two documents, the rarest first, equal ones by hash.
func (b *Builder) number(ctx context.Context, threads int) (*numbers, error) {
	sorted := make([]uint64, len(b.hashes))
	if err := radix.SortKeys(ctx, sorted, radix.Chunks{b.hashes}, radix.Options{Mask: math.MaxUint32 << 32, Threads: max(threads, 1)}); err != nil {
		return nil, err
	}
	type counted struct {
		hash      uint64
		documents uint32
	}
	var shared []counted
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		if j-i > 1 {
			shared = append(shared, counted{sorted[i], uint32(j - i)})
		}
		i = j
	}
	if uint64(len(shared)) >= math.MaxUint32 {
		return nil, ErrTooMany
	}
	slices.SortStableFunc(shared, func(a, b counted) int { return cmp.Compare(a.documents, b.documents) })
	n := &numbers{count: len(shared), shift: 63}
	for len(shared)*3/2 >= 1<<(64-n.shift) {
		n.shift--
	}
	n.slots = make([]slot, 1<<(64-n.shift))
	for i, c := range shared {
		*n.find(c.hash) = slot{c.hash, uint32(i + 1)}
	}
	return n, ctx.Err()
}

// store writes both directions of the index.
func (x *Index) store(ctx context.Context, b *Builder, n *numbers) error {
	x.sets.ends = make([]uint64, len(x.docs))
	counts := make([]uint64, n.count)
	for rank, doc := range x.docs {
		if rank%65536 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		from := len(x.sets.values)
		for _, hash := range b.set(int(doc)) {
			if s := n.find(hash); s.number != 0 {
				x.sets.values = append(x.sets.values, s.number-1)
				counts[s.number-1]++
			}
		}
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

// Postings returns how many postings are stored: signatures that at least two documents have, once for each
// of these; equal documents count as one.
func (x *Index) Postings() int { return len(x.lists.values) }

// Documents returns how many documents are compared: those that have a signature, equal ones once.
func (x *Index) Documents() int { return len(x.docs) }
