package postings

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"ndd/engine/index/radix"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/spill"
)

// ErrTooMany is returned for more than 2^31 documents, or signatures of one document.
var ErrTooMany = errors.New("more than 2^31 documents or signatures of one kind")

// A Builder holds sets. The zero value is empty and keeps them in memory. It belongs to one
// goroutine.
//
// If they exceed its Room they go to a temporary file, 8 bytes a signature, which is written once,
// mapped, and read sequentially except for sets that are compared as equal.
type Builder struct {
	room   Room
	hashes spill.Column[uint64] // all sets
	ends   []uint64             // of the documents' sets in hashes
}

// A Room limits the memory of sets. The zero value has no limit.
type Room struct {
	Bytes uint64     // of the sets in memory; more go to a temporary file; 0: no limit
	Dir   string     // of the temporary file; default: the system's
	Disk  *disk.Disk // default: the system's
}

// columnIn returns an empty column of numbers in a room.
func columnIn[T uint32 | uint64](r Room) spill.Column[T] {
	return spill.NewColumn[T](r.Disk, r.Dir, "signatures", r.Bytes)
}

// NewBuilder returns an empty Builder, which must be closed.
func NewBuilder(r Room) *Builder { return &Builder{room: r, hashes: columnIn[uint64](r)} }

// Add adds the set of the next document: hashes, ascending, each once. A document with an empty set
// is in no pair. If the temporary file cannot be written a later call returns the error.
func (b *Builder) Add(set []uint64) {
	b.hashes.AppendAll(set)
	b.ends = append(b.ends, uint64(b.hashes.Len()))
}

// seal makes all sets readable; no more may be added.
func (b *Builder) seal() error {
	if uint64(len(b.ends)) > math.MaxInt32 {
		return ErrTooMany
	}
	return b.hashes.End()
}

// Close releases the sets. It may be called again, and on nil.
func (b *Builder) Close() error {
	if b == nil {
		return nil
	}
	b.ends = nil
	return b.hashes.Close()
}

// NeedBytes returns the memory that the sets take: none for those in a temporary file.
func (b *Builder) NeedBytes() uint64 {
	const buffer = 1 << 20
	if b.hashes.IsSpilled() {
		return buffer
	}
	return 8 * uint64(b.hashes.Len())
}

func (b *Builder) set(doc uint32) []uint64 {
	from := uint64(0)
	if doc > 0 {
		from = b.ends[doc-1]
	}
	return b.hashes.All[from:b.ends[doc]]
}

// size returns how many signatures a document has.
func (b *Builder) size(doc uint32) int { return len(b.set(doc)) }

// ranked are the distinct sets of a Builder.
type ranked struct {
	docs    []uint32   // that have a signature, of equal ones the first, in order of size
	equal   [][]uint32 // groups of documents with equal sets, in order of the first
	builder *Builder
}

// chunks returns the sets of documents in their order, those of neighbours together.
func (b *Builder) chunks(docs []uint32) (all radix.Chunks) {
	docs = slices.Sorted(slices.Values(docs))
	for i := 0; i < len(docs); {
		j := i + 1
		for j < len(docs) && docs[j] == docs[j-1]+1 {
			j++
		}
		all = append(all, b.hashes.All[b.ends[docs[i]]-uint64(b.size(docs[i])):b.ends[docs[j-1]]])
		i = j
	}
	return all
}

// rowMap maps rows of sorted signatures to documents.
type rowMap struct {
	ends  []uint64 // of each document, in order of the documents
	index []uint32 // likewise
	at    []uint32 // of each rowStep rows: the document that the first of them belongs to
}

const rowStep = 64

func (b *Builder) rows(docs []uint32) *rowMap {
	r := &rowMap{index: make([]uint32, len(docs))}
	for i := range r.index {
		r.index[i] = uint32(i)
	}
	slices.SortFunc(r.index, func(x, y uint32) int { return cmp.Compare(docs[x], docs[y]) })
	sum := uint64(0)
	for i, at := range r.index {
		sum += uint64(b.size(docs[at]))
		r.ends = append(r.ends, sum)
		for uint64(len(r.at))*rowStep < sum {
			r.at = append(r.at, uint32(i))
		}
	}
	return r
}

// document returns the index of the document of a row.
func (r *rowMap) document(row uint64) uint32 {
	i := r.at[row/rowStep]
	for r.ends[i] <= row {
		i++
	}
	return r.index[i]
}
