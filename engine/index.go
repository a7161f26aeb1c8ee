package engine

import (
	"context"
	"errors"
	"fmt"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/index/live/version"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// Errors to test for with [errors.Is].
var (
	// ErrClosed is returned by every call of an index that is closed.
	ErrClosed = version.ErrClosed
	// ErrNoDocument is wrapped by the error of a look-up of the ID of a missing document: it was
	// deleted or replaced after a query found it. Asking again gives an answer without it.
	ErrNoDocument = version.ErrNoDocument
	// ErrMixed is wrapped where fingerprints of different recipes, or documents with and without
	// IDs, are put together.
	ErrMixed = live.ErrMixed
	// ErrNoIndex is wrapped by the error of [Open] when there is no index at a path, be there
	// nothing or something else. A damaged index is one: its error wraps [ErrCorrupt].
	ErrNoIndex = live.ErrNoIndex
	// ErrConflict is wrapped where an ID is taken and conflicts are to be refused.
	ErrConflict = live.ErrConflict
	// ErrNoRoom is wrapped where memory has no room for more documents; queries and deletions go on.
	ErrNoRoom = live.ErrNoRoom
	// ErrNoDocs is wrapped where an index keeps no documents and is to be opened for writing, or a stored
	// fingerprint is to be deleted.
	ErrNoDocs = search.ErrNoDocs
	// ErrDense is wrapped where a query is near more fingerprints than are held in memory.
	ErrDense = search.ErrDense
	// ErrDistance is wrapped where a distance is asked for that the index was not made for, or no tables are.
	ErrDistance = errors.New("the index was not made for that distance")
	// ErrNoRecipe is returned where an index has no recipe, so that documents cannot be fingerprinted as its own. It
	// wraps [ErrMixed].
	ErrNoRecipe = fmt.Errorf("%w: the index was built from raw fingerprints, so it has no recipe for documents", ErrMixed)
	// ErrCorrupt is wrapped where a file is not as it was written.
	ErrCorrupt = store.ErrCorrupt
	// ErrLocked is wrapped where another process writes to the index already.
	ErrLocked = disk.ErrLocked
)

// A DocID is the ordinal number of a document in an index, from 0 in order of arrival.
type DocID uint64

// An Index answers queries and takes inserts. It is safe for many goroutines.
type Index struct{ live *live.Index }

// New returns an empty index in memory that finds fingerprints within distance k, or an error when
// there are no tables for that k.
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

// Build makes the index folder dir, which must not exist, from fingerprint files: documents are
// numbered through the files in order. It appears whole or not at all. Keys that do not fit the budget are sorted in
// temporary files in the new folder.
func Build(ctx context.Context, dir string, files []*ndf.File, o BuildOptions) error {
	return live.Build(ctx, dir, files, o.inner())
}

// Open opens the index in folder dir. The error wraps [ErrCorrupt] when the index
// is not sound, [ErrNoIndex] when there is none, and memory.ErrTooLarge when it is to be loaded and
// is larger than what o.Budget has left.
func Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	x, err := live.Open(ctx, dir, o.inner())
	if err != nil {
		return nil, err
	}
	return &Index{x}, nil
}

// Create makes the folder of an empty index, which must not exist, to be opened for writing.
func Create(dir string, k int, o Options) error {
	c, err := o.config(k)
	if err != nil {
		return err
	}
	return live.Create(dir, c)
}

// Close ends background work, closes files and gives the memory back. Calls that are under
// way end as if nothing had happened; later ones fail with [ErrClosed]. It may be called again.
func (x *Index) Close() error { return x.live.Close() }

// Implementation returns the implementation of the index, a *live.Index, for [live.Of].
// It is no part of the stable interface.
func (x *Index) Implementation() any { return x.live }

// Of returns the Index of an implementation, a *live.Index that was opened with options that this package
// does not have. It is no part of the stable interface.
func Of(implementation any) *Index { return &Index{implementation.(*live.Index)} }

// Design returns the design of the index's tables.
func (x *Index) Design() *permute.Design { return &x.live.Config().Design }

// Recipe returns how the fingerprints were made, nil when the index does not know.
func (x *Index) Recipe() *simhash.Recipe { return x.live.Config().Recipe }

// Stats are an index's sizes.
type Stats struct {
	Documents    uint64
	Fingerprints uint64 // distinct within each segment and memtable
	Segments     int
	Buffered     uint64 // documents in memtables
	Unflushed    uint64 // documents that are in no file
	Deleted      uint64 // documents that were deleted and take room until a merge drops them
	Expired      uint64 // documents whose time is over and that take room likewise
	TableBytes   uint64
	Layout       string // of the tables: planar or huffman
}

// Stats counts what the index holds now: nothing once it is closed.
func (x *Index) Stats() Stats {
	s := x.live.Stats()
	return Stats{s.Documents, s.Fingerprints, s.Segments, s.Buffered, s.Unflushed, s.Deleted, s.Expired, s.TableBytes,
		string(s.Layout)}
}

// Check reads everything and holds it against itself: it finds what checksums cannot.
func (x *Index) Check(ctx context.Context) error { return x.live.Check(ctx) }

// IDs returns a look-up of documents' IDs, for one goroutine.
func (x *Index) IDs() IDs { return IDs{x.live.IDs()} }

// IDs looks up the IDs of documents. It is for one goroutine.
type IDs struct{ live *version.IDs }

// ID returns the document's ID: its number in decimal when it has none, and nothing for [NoDoc]. It costs
// about 10 microseconds, less for the next document of the same 256.
func (n IDs) ID(doc DocID) (string, error) { return n.live.ID(rows.DocID(doc)) }
