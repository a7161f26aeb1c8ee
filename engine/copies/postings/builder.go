package postings

import (
	"bufio"
	"context"
	"errors"
	"math"
	"slices"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// ErrTooMany says that there are more documents than 31 bits can number, or more signatures in one of them, or with the same leading bits.
var ErrTooMany = errors.New("more than 2^31 documents or signatures of one kind")

// A Room says where sets are kept. The zero value is in memory, without a limit.
type Room struct {
	Bytes uint64     // of the sets in memory; more go to a temporary file; 0: no limit
	Dir   string     // of the temporary file; default: the system's
	Disk  *disk.Disk // default: the system's
}

// A Builder takes sets. The zero value is empty, and keeps them in memory. It belongs to one goroutine.
//
// Sets that are more than its Room go to a temporary file as they are, one behind the other, which is mapped when they are
// read: 8 bytes a signature, written once and read sequentially, but for sets that are compared as equal.
type Builder struct {
	room   Room
	hashes []uint64 // all sets in memory, or mapped
	ends   []uint64 // of the documents' sets in hashes

	file  *disk.Temp // nil: in memory
	out   *bufio.Writer
	unmap func() error
	err   error // of writing
}

// NewBuilder returns an empty Builder that keeps the sets where r says. It must be closed.
func NewBuilder(r Room) *Builder { return &Builder{room: r} }

// Add adds the set of the next document: hashes, ascending, each once. It may be empty: such a document is in no
// pair. That a temporary file cannot be written is an error of what is called next.
func (b *Builder) Add(set []uint64) {
	total := b.total() + uint64(len(set))
	b.ends = append(b.ends, total)
	if b.file == nil && b.room.Bytes > 0 && 8*total > b.room.Bytes {
		b.spill()
	}
	switch {
	case b.err != nil:
	case b.file != nil:
		_, b.err = b.out.Write(store.Bytes64(set))
	default:
		b.hashes = append(b.hashes, set...)
	}
}

// total returns the signatures of all sets.
func (b *Builder) total() uint64 {
	if len(b.ends) == 0 {
		return 0
	}
	return b.ends[len(b.ends)-1]
}

// spill moves the sets to a temporary file.
func (b *Builder) spill() {
	if b.file, b.err = b.room.Disk.Temp(b.room.Dir, "signatures"); b.err != nil {
		return
	}
	b.out = bufio.NewWriterSize(b.file, 1<<20)
	_, b.err = b.out.Write(store.Bytes64(b.hashes))
	b.hashes = nil
}

// seal makes all sets readable; nothing may be added any more.
func (b *Builder) seal() error {
	if uint64(len(b.ends)) > math.MaxInt32 {
		return ErrTooMany
	}
	if b.err != nil || b.file == nil || b.unmap != nil || b.total() == 0 {
		return b.err
	}
	if b.err = b.out.Flush(); b.err != nil {
		return b.err
	}
	var mapped []byte
	if mapped, b.unmap, b.err = store.Map(b.file.File()); b.err != nil {
		return b.err
	}
	b.hashes = store.Uint64s(mapped)
	return nil
}

// Close gives the sets back. It may be called again, and on nil.
func (b *Builder) Close() error {
	if b == nil {
		return nil
	}
	var err error
	if b.unmap != nil {
		err = b.unmap()
	}
	err = errors.Join(err, b.file.Close())
	*b = Builder{}
	return err
}

// Documents returns how many sets have been added.
func (b *Builder) Documents() int { return len(b.ends) }

// Spilled reports whether the sets are in a temporary file.
func (b *Builder) Spilled() bool { return b.file != nil }

// Sets returns the distinct sets, to be stored; nothing may be added any more. They are valid until Close. The error is of ctx or
// of a temporary file, or is [ErrTooMany].
func (b *Builder) Sets(ctx context.Context, threads int) (_ *Sets, err error) {
	defer store.CatchFault(&err)()
	if err := b.seal(); err != nil {
		return nil, err
	}
	r, err := b.rank(ctx, threads)
	if err != nil {
		return nil, err
	}
	return &Sets{Docs: r.docs, Equal: r.equal, Documents: len(b.ends), builder: b}, nil
}

// Sets are the distinct sets of a Builder.
type Sets struct {
	Docs      []uint32   // that have a signature, of equal ones the first, in order of size
	Equal     [][]uint32 // groups of documents with equal sets, in order of the first
	Documents int        // all of them
	builder   *Builder
}

// Set returns the set of a document: its signatures, ascending.
func (s *Sets) Set(doc uint32) []uint64 { return s.builder.set(doc) }

// Chunks returns the sets of s.Docs in order of the documents, those of neighbours together.
func (s *Sets) Chunks() [][]uint64 { return s.builder.chunks(s.Docs) }

// NeedBytes returns the memory that the sets take: none for those in a temporary file.
func (b *Builder) NeedBytes() uint64 {
	const buffer = 1 << 20
	if b.file != nil {
		return buffer
	}
	return 8 * b.total()
}

// set returns a document's set.
func (b *Builder) set(doc uint32) []uint64 {
	from := uint64(0)
	if doc > 0 {
		from = b.ends[doc-1]
	}
	return b.hashes[from:b.ends[doc]]
}

// size returns how many signatures a document has.
func (b *Builder) size(doc uint32) int {
	if doc == 0 {
		return int(b.ends[0])
	}
	return int(b.ends[doc] - b.ends[doc-1])
}

// sizes returns how many signatures documents have.
func (b *Builder) sizes(docs []uint32) []uint32 {
	sizes := make([]uint32, len(docs))
	for i, doc := range docs {
		sizes[i] = uint32(b.size(doc))
	}
	return sizes
}

// chunks returns the sets of documents in pieces, those of neighbours together.
func (b *Builder) chunks(docs []uint32) (all [][]uint64) {
	docs = slices.Sorted(slices.Values(docs))
	for i := 0; i < len(docs); {
		j := i + 1
		for j < len(docs) && docs[j] == docs[j-1]+1 {
			j++
		}
		last := docs[j-1]
		if set := b.hashes[b.ends[docs[i]]-uint64(b.size(docs[i])) : b.ends[last]]; len(set) > 0 {
			all = append(all, set)
		}
		i = j
	}
	return all
}
