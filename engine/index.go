package engine

import (
	"context"
	"errors"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/index/live/version"
	"ndd/engine/storage/disk"
	"ndd/permute"
)

// Errors to test for with [errors.Is].
var (
	// ErrClosed is returned by every call of an index that is closed.
	ErrClosed = version.ErrClosed
	// ErrNoDocument is wrapped by the error of a look-up of the ID of a document that is gone: it was
	// deleted or replaced after a query found it. Asking again gives an answer without it.
	ErrNoDocument = version.ErrNoDocument
	// ErrMixed is wrapped where fingerprints of different recipes, or documents with and without
	// IDs, are put together.
	ErrMixed = live.ErrMixed
	// ErrNoLengths is wrapped where lengths of texts are asked for that are not kept.
	ErrNoLengths = rows.ErrNoLengths
	// ErrNoIndex is wrapped by the error of [Open] when there is no index at a path, be there
	// nothing or something else. A damaged index is one: its error wraps store.ErrCorrupt.
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
	// ErrLocked is wrapped where another process writes to the index already.
	ErrLocked = disk.ErrLocked
)

// A DocID is the ordinal number of a document in an index, from 0 in order of arrival.
type DocID = rows.DocID

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
// numbered through the files in order. It appears whole or not at all. What that costs, and what
// is refused, [live.Build] says.
func Build(ctx context.Context, dir string, files []*ndf.File, o BuildOptions) error {
	return live.Build(ctx, dir, files, o)
}

// Open opens the index in folder dir. The error wraps store.ErrCorrupt when an index is there but
// is not sound, [ErrNoIndex] when none is there, and memory.ErrTooLarge when it is to be loaded and
// is larger than what o.Budget has left.
func Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	x, err := live.Open(ctx, dir, o)
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

// Close ends background work and gives the memory back, that of files too. Calls that are under
// way end as if nothing had happened; later ones fail with [ErrClosed]. It may be called again.
func (x *Index) Close() error { return x.live.Close() }

// Live returns the index's implementation, for the commands that look at its parts. It is no part of
// the stable interface.
func (x *Index) Live() *live.Index { return x.live }

// Design returns that of the index's tables.
func (x *Index) Design() *permute.Design { return &x.live.Config().Design }

// Recipe returns how the fingerprints were made, nil when the index does not know.
func (x *Index) Recipe() *simhash.Recipe { return x.live.Config().Recipe }

// Stats are an index's sizes.
type Stats = live.Stats

// Stats counts what the index holds now: nothing once it is closed.
func (x *Index) Stats() Stats { return x.live.Stats() }

// Check reads everything and holds it against itself: it finds what checksums cannot.
func (x *Index) Check(ctx context.Context) error { return x.live.Check(ctx) }

// IDs returns a look-up of documents' IDs, for one goroutine.
func (x *Index) IDs() *version.IDs { return x.live.IDs() }
