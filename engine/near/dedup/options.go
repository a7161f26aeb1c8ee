package dedup

import (
	"context"

	"ndd/engine/corpus/input"
	"ndd/engine/corpus/ndf"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/near/keep"
	"ndd/engine/near/shingle"
	"ndd/engine/near/source"
	"ndd/engine/storage/disk"
)

// Options configure the search for near-duplicates. The order of preference belongs to the corpus.
type Options struct {
	K      int  // largest Hamming distance
	Chains bool // a cluster is all that near pairs connect; else each member is within K of the kept one
	Exact  bool // documents are dropped for one with the same text alone; requires a corpus read so, and K and Verify 0

	// Known, if not nil, is called once with all fingerprints. It returns the rows near a document that the caller
	// has already, ascending, each with the ID of that document and the distance. With Verify it may return several
	// documents of a row, the nearest first. These rows are dropped, and the others are compared with each other.
	Known func(ctx context.Context, fingerprints []uint64) ([]Drop, error)

	// KnownBytes returns the memory that Known needs for a number of documents; nil is none.
	KnownBytes func(documents int) uint64

	// Meter, if not nil, counts comparisons.
	Meter *cluster.Meter

	// Verify, if not nil, compares texts. A document that Known returns is compared with the documents that Known
	// names, until one is alike.
	Verify *Verify

	// Also has other settings, for [Result.Also].
	Also []Setting
}

// A Setting is a distance and a rule, with which other documents may be dropped.
type Setting struct {
	K    int  // if texts are compared, at most the distance of the search
	Rule Rule // if texts are compared
}

// A Verify configures how texts are compared.
type Verify struct {
	Rule   Rule         // says when a document may be dropped for a kept one
	Memory int64        // bytes for sets of shingles; default [VerifyMemory]. More of them go to a temporary file
	Known  []string     // inputs that have the texts of the documents of Options.Known, by their IDs
	Meter  *input.Meter // counts the reading, if not nil
	Begin  func()       // is called, if not nil, when fingerprints are compared and the reading begins

	// Sets puts the sets of shingles of some rows, which ascend, into s. If it is nil, the documents are read again.
	// They must have been read by [ReadDocuments], from files.
	Sets func(ctx context.Context, d Documents, rows []Row, s *shingle.Sets) error
}

// VerifyMemory is the default of Verify.Memory. The rest is in the system's cache of the file while
// there is memory for it.
const VerifyMemory = 8 << 20

// memory returns the bytes for sets of shingles.
func (v *Verify) memory() int64 {
	if v.Memory <= 0 {
		return VerifyMemory
	}
	return v.Memory
}

// ReadOptions configure how a corpus is read.
type ReadOptions struct {
	Keep    keep.Order
	Source  source.Options
	SameURL []string       // fields, whose first value in a document is its URL; of documents with one URL one is kept
	Find    Options        // for the later call of Find: memory depends on them
	Copies  bool           // the inputs will be copied: memory depends on it, too
	Budget  *memory.Budget // the memory is taken from it, until [Corpus.Close]; nil: no limit
	Threads int            // goroutines; 0 or less: as many as there are processors
	TempDir string         // folder of temporary files; default os.TempDir()
	Disk    *disk.Disk     // disk of temporary files; default the system's

	Open ndf.OpenOptions // options for fingerprint files

	// Say, if not nil, is called with the largest memory that everything takes: for fingerprints before they are
	// read; for documents before that, when their number is unknown and 0, and before they are compared. With
	// spilled, everything that grows with their number is in temporary files, because there is less memory.
	Say func(documents int, bytes uint64, spilled bool)

	readingBytes uint64 // for reading documents
	columnBytes  uint64 // in memory of a column; default [columnBytes]
}
