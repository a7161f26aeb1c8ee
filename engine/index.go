package engine

import (
	"context"
	"errors"
	"fmt"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

// Errors of this package. Returned errors may wrap them: test with [errors.Is].
var (
	// ErrClosed is the error of every call of a closed index.
	ErrClosed = version.ErrClosed
	// ErrNoDocument means that the document of an ID lookup is missing: it was deleted or replaced after a query
	// found it. A repeated query gives an answer without it.
	ErrNoDocument = version.ErrNoDocument
	// ErrMixed means that fingerprints of different recipes, or documents with and without IDs, were combined.
	ErrMixed = live.ErrMixed
	// ErrNoIndex means that there is no index at the path of [Open], or something else. The error for a damaged
	// index is [ErrCorrupt].
	ErrNoIndex = live.ErrNoIndex
	// ErrConflict means that an ID is taken and OnConflict is [Refuse].
	ErrConflict = live.ErrConflict
	// ErrNoRoom means that there is no memory for more documents. Queries and deletions still work.
	ErrNoRoom = live.ErrNoRoom
	// ErrNoDocs means that an index without documents cannot be opened for writing, and that its fingerprints cannot
	// be deleted.
	ErrNoDocs = search.ErrNoDocs
	// ErrDense means that a query is near more fingerprints than fit in memory.
	ErrDense = search.ErrDense
	// ErrDistance means that the index has no tables for the distance.
	ErrDistance = errors.New("the index was not made for that distance")
	// ErrNoRecipe means that an index has no recipe, so that it cannot make fingerprints of documents. It wraps
	// [ErrMixed].
	ErrNoRecipe = fmt.Errorf("%w: the index was built from raw fingerprints, so it has no recipe for documents", ErrMixed)
	// ErrCorrupt means that the content of a file is damaged.
	ErrCorrupt = store.ErrCorrupt
	// ErrLocked means that another process has the index open for writing.
	ErrLocked = disk.ErrLocked
)

// A DocID is the number of a document in an index, in order of arrival from 0.
type DocID uint64

// An Index answers queries and accepts inserts. It is safe for concurrent use.
type Index struct{ live *live.Index }

// New returns an empty index in memory for queries up to distance k. The error wraps [ErrDistance] if
// o.Design is for smaller distances.
func New(k int, o Options) (*Index, error) {
	c, err := o.config(k)
	if err != nil {
		return nil, err
	}
	x, err := live.New(c)
	if err != nil {
		return nil, err
	}
	return &Index{x}, nil
}

// Build makes the index folder dir from fingerprint files. Documents are numbered through all files in
// order. The folder must not exist, and appears complete or not at all. Keys that do not fit in the budget are
// sorted in temporary files in the new folder.
func Build(ctx context.Context, dir string, files []*ndf.File, o BuildOptions) error {
	return live.Build(ctx, dir, files, o.inner())
}

// Open opens the index in folder dir. The error wraps [ErrCorrupt] if the index is damaged, [ErrNoIndex] if
// there is none, and memory.ErrTooLarge if it should be loaded and is larger than the rest of o.Budget.
func Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	x, err := live.Open(ctx, dir, o.inner())
	if err != nil {
		return nil, err
	}
	return &Index{x}, nil
}

// Create makes the folder of an empty index, which can then be opened for writing. The folder must not exist.
func Create(dir string, k int, o Options) error {
	c, err := o.config(k)
	if err != nil {
		return err
	}
	return live.Create(dir, c)
}

// Close ends background work, closes files and frees the memory. Calls that have begun complete normally, and
// later calls fail with [ErrClosed]. It may be called again.
func (x *Index) Close() error { return x.live.Close() }

// Implementation returns the implementation of the index, a *live.Index, for [live.Unwrap].
// It is not part of the stable interface.
func (x *Index) Implementation() any { return x.live }

// Wrap returns an Index for its implementation, a *live.Index. The implementation may have options that this
// package does not offer. Wrap is not part of the stable interface.
func Wrap(implementation any) *Index { return &Index{implementation.(*live.Index)} }

// Design returns the design of the index's tables.
func (x *Index) Design() *permute.Design { return &x.live.Config().Design }

// Recipe returns the recipe of the fingerprints, or nil if it is unknown.
func (x *Index) Recipe() *simhash.Recipe { return x.live.Config().Recipe }

// Stats are the sizes of an index.
type Stats struct {
	Documents    uint64
	Fingerprints uint64 // distinct within each segment and memtable
	Segments     int
	Buffered     uint64 // documents in memtables
	Unflushed    uint64 // documents that are not in a file yet
	Deleted      uint64 // deleted documents that a merge has not removed yet
	Expired      uint64 // expired documents that a merge has not removed yet
	TableBytes   uint64
	Layout       string // layout of the tables: planar or huffman
}

// Stats returns the present sizes of the index. They are zero after Close.
func (x *Index) Stats() Stats {
	s := x.live.Stats()
	return Stats{s.Documents, s.Fingerprints, s.Segments, s.Buffered, s.Unflushed, s.Deleted, s.Expired, s.TableBytes,
		string(s.Layout)}
}

// Check reads the whole index and checks that its parts agree with each other. It finds errors that checksums
// cannot find.
func (x *Index) Check(ctx context.Context) error { return x.live.Check(ctx) }

// IDs returns a lookup of the IDs of documents, for one goroutine.
func (x *Index) IDs() IDs { return IDs{x.live.IDs()} }

// IDs looks up the IDs of documents. It is for one goroutine.
type IDs struct{ live *version.IDs }

// ID returns the ID of a document: its number in decimal if it has none, and "" for [NoDoc]. It takes about 10
// microseconds, and less for the next document of the same block of 256.
func (n IDs) ID(doc DocID) (string, error) { return n.live.ID(rows.DocID(doc)) }
