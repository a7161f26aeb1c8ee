package postings

import (
	"context"
	"slices"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/storage/store"
)

// An Index finds the documents of a [Builder] that are similar to another set. It takes 12 bytes of memory for a
// signature. It is safe for concurrent use if each goroutine has its own counts.
type Index struct {
	hashes []uint64 // sorted
	docs   []uint32 // document of each hash
	sizes  []uint32 // size of each document's set
	counts []uint32 // number of counted sets with a hash, at the first place of the hash; see Count
}

// A Match is a document with a similar set.
type Match struct {
	Doc          uint32 // number of the document, in the order of [Builder.Add]
	Size, Shared int    // signatures
	Frequent     bool   // the sets differ, and none of the shared signatures finds candidates; see Index.Count
}

// finds is a bit in a count of shared signatures. It is set if one of them may find candidates.
const finds = 1 << 31

// Index returns the index of all sets, and empties the Builder. It returns the error of ctx or of a temporary file, or
// [ErrTooMany].
func (b *Builder) Index(ctx context.Context, threads int) (x *Index, err error) {
	defer store.CatchFault(&err)()
	if err := b.seal(); err != nil {
		return nil, err
	}
	all := make([]uint32, len(b.ends))
	x = &Index{sizes: make([]uint32, len(b.ends))}
	for doc := range all {
		all[doc], x.sizes[doc] = uint32(doc), uint32(b.size(uint32(doc)))
	}
	x.hashes = make([]uint64, b.hashes.Len())
	rows := make([]uint64, len(x.hashes))
	o := radix.Options{Mask: leadingMask, Threads: threads}
	if err := radix.SortRows(ctx, x.hashes, rows, b.chunks(all), o); err != nil {
		return nil, err
	}
	documents := b.rows(all)
	for _, row := range rows {
		x.docs = append(x.docs, documents.document(row))
	}
	return x, b.Close()
}

// Count counts a set for [Match].Frequent. It belongs to one goroutine, which counts each distinct set once before the
// first search.
func (x *Index) Count(set []uint64) {
	if x.counts == nil {
		x.counts = make([]uint32, len(x.hashes))
	}
	from := 0
	for _, hash := range set {
		position, found := slices.BinarySearch(x.hashes[from:], hash)
		if from += position; found {
			x.counts[from]++
		}
	}
}

// AppendSimilar appends the documents that are similar to a set by o, in order. counts is scratch memory with an element
// for each document. All its elements are 0 before and after the call.
func (x *Index) AppendSimilar(dst []Match, set []uint64, counts []uint32, o *Options) []Match {
	var hits []uint32
	position := 0
	for _, hash := range set {
		first, _ := slices.BinarySearch(x.hashes[position:], hash)
		position += first
		bit := uint32(finds)
		if position < len(x.counts) && !o.Finds(int(x.counts[position])) {
			bit = 0
		}
		for ; position < len(x.hashes) && x.hashes[position] == hash; position++ {
			doc := x.docs[position]
			if counts[doc] == 0 {
				hits = append(hits, doc)
			}
			counts[doc] = (counts[doc] + 1) | bit
		}
	}
	slices.Sort(hits)
	for _, doc := range hits {
		if size, shared := int(x.sizes[doc]), int(counts[doc]&^finds); o.Similar(size, len(set), shared) {
			frequent := counts[doc]&finds == 0 && (shared < size || shared < len(set))
			dst = append(dst, Match{doc, size, shared, frequent})
		}
		counts[doc] = 0
	}
	return dst
}

// Len returns the number of documents.
func (x *Index) Len() int { return len(x.sizes) }
