package postings

import (
	"errors"
	"math"
	"slices"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/spill"
)

// ErrTooMany is returned for more than 2^31 documents, or signatures of one document.
var ErrTooMany = errors.New("more than 2^31 documents or signatures of one kind")

// A Builder collects sets. The zero value is empty and keeps them in memory. It belongs to one
// goroutine.
//
// If the sets exceed its Room, they are moved to a temporary file, 8 bytes a signature. The file is mapped. It is
// read sequentially, except for sets that may be equal.
type Builder struct {
	room   Room
	hashes spill.Column[uint64] // all sets
	ends   []uint64             // end of each document's set in hashes
}

// A Room limits the memory of sets. The zero value has no limit.
type Room struct {
	Bytes uint64     // maximum size in memory; larger data is moved to a temporary file; 0: no limit
	Dir   string     // folder for the temporary file; default: the folder of the system
	Disk  *disk.Disk // default: the disk of the system
}

// columnIn returns an empty column of numbers that is moved to a file in the place of r beyond a number of bytes.
func columnIn[T uint32 | uint64](r Room, bytes uint64) spill.Column[T] {
	return spill.NewColumn[T](r.Disk, r.Dir, "signatures", bytes)
}

// NewBuilder returns an empty Builder. The caller closes it.
func NewBuilder(r Room) *Builder { return &Builder{room: r, hashes: columnIn[uint64](r, r.Bytes)} }

// Add adds the set of the next document: distinct hashes, ascending. A document with an empty set
// has no pairs. If the temporary file cannot be written, a later call returns the error.
func (b *Builder) Add(set []uint64) {
	b.hashes.AppendAll(set)
	b.ends = append(b.ends, uint64(b.hashes.Len()))
}

// seal makes all sets readable. No more sets may be added.
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

func (b *Builder) set(doc uint32) []uint64 {
	from := uint64(0)
	if doc > 0 {
		from = b.ends[doc-1]
	}
	return b.hashes.All[from:b.ends[doc]]
}

// Pair returns the pair of two documents, even if they share nothing. No more sets may be added.
func (b *Builder) Pair(p, q uint32) Pair {
	if b.seal() != nil {
		return Pair{A: p, B: q}
	}
	s, t := b.set(p), b.set(q)
	return Pair{p, q, int32(len(s)), int32(len(t)), int32(sharedAtLeast(s, t, 0))}
}

// size returns the number of signatures of a document.
func (b *Builder) size(doc uint32) int { return len(b.set(doc)) }

// chunks returns the sets of documents in order of the documents. Sets of consecutive documents are one chunk.
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
