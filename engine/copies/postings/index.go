package postings

import (
	"context"
	"slices"

	"ndd/engine/index/radix"
	"ndd/engine/storage/store"
)

// An Index finds the documents of a [Builder] that are similar to another set. It keeps 12 bytes a signature in memory,
// sorted, and may be used from many goroutines, each with its own counts.
type Index struct {
	hashes []uint64
	docs   []uint32 // that has each hash
	sizes  []uint32 // of the documents' sets
	counts []uint32 // of the sets that have each hash, at its first place; see Count
}

// A Match is a document that is similar to a set.
type Match struct {
	Doc          uint32 // in order of [Builder.Add]
	Size, Shared int    // signatures
	Frequent     bool   // the sets differ, and all that they share is in more than Options.MaxDocuments sets
}

// rare is the bit of a count of shared signatures which says that one of them is in few enough sets.
const rare = 1 << 31

// Index returns the index of all sets, and empties the Builder. The error is of ctx or of a temporary file, or is
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

// Count counts a set for [Match].Frequent. It belongs to one goroutine, which counts every distinct set once before the
// first search.
func (x *Index) Count(set []uint64) {
	if x.counts == nil {
		x.counts = make([]uint32, len(x.hashes))
	}
	from := 0
	for _, hash := range set {
		at, found := slices.BinarySearch(x.hashes[from:], hash)
		if from += at; found {
			x.counts[from]++
		}
	}
}

// AppendSimilar appends the documents that are similar to a set by o, in order. Counts has a 0 for each document, and has
// so again afterwards.
func (x *Index) AppendSimilar(dst []Match, set []uint64, counts []uint32, o *Options) []Match {
	var found []uint32
	at := 0
	for _, hash := range set {
		first, _ := slices.BinarySearch(x.hashes[at:], hash)
		at += first
		bit := uint32(rare)
		if at < len(x.counts) && int(x.counts[at]) > o.MaxDocuments {
			bit = 0
		}
		for ; at < len(x.hashes) && x.hashes[at] == hash; at++ {
			doc := x.docs[at]
			if counts[doc] == 0 {
				found = append(found, doc)
			}
			counts[doc] = (counts[doc] + 1) | bit
		}
	}
	slices.Sort(found)
	for _, doc := range found {
		if size, shared := int(x.sizes[doc]), int(counts[doc]&^rare); o.Similar(size, len(set), shared) {
			frequent := counts[doc]&rare == 0 && (shared < size || shared < len(set))
			dst = append(dst, Match{doc, size, shared, frequent})
		}
		counts[doc] = 0
	}
	return dst
}

// Len returns the number of documents.
func (x *Index) Len() int { return len(x.sizes) }
