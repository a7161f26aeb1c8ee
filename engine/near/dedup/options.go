package dedup

import (
	"context"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/near/source"
	"example.org/ndd/engine/storage/disk"
)

// Options configure the search for near-duplicates. The order of preference belongs to the corpus.
type Options struct {
	K     int  // largest Hamming distance
	Exact bool // documents are dropped for one with the same text alone; requires a corpus read so, and K and Rule 0

	// Rule says when a document may be dropped for a near one. Without clauses fingerprints decide alone, also if Texts is nil
	// and the corpus has no sketches.
	Rule Rule

	// Texts, if not nil, has the texts read again and compared. If it is nil, Rule must have one minimum of Jaccard, with
	// which estimates by sketches are compared. A pair without a sketch is accepted, without a likeness.
	Texts *Texts

	// Known, if not nil, is called once with all fingerprints and sketches, nil if there are none. It returns the rows that
	// the caller has already, ascending, each with the ID of a document that is near, and alike by its sketch. These rows
	// are dropped, and the others are compared with each other.
	Known func(ctx context.Context, fingerprints []uint64, sketches []sketch.Sketch) ([]Drop, error)

	// KnownBytes returns the memory that Known needs for a number of documents; nil is none.
	KnownBytes func(documents int) uint64

	// Meter, if not nil, counts comparisons.
	Meter *cluster.Meter

	// Also has other settings, for [Result.Also].
	Also []Setting
}

// A Setting is a distance and a rule, with which other documents may be dropped.
type Setting struct {
	K    int
	Rule Rule
}

// Texts configure how texts are compared. The documents must have been read by [ReadDocuments], from files.
type Texts struct {
	Memory int64        // bytes for sets of shingles; default [TextMemory]. More of them go to a temporary file
	Meter  *input.Meter // counts the reading, if not nil
	Begin  func()       // is called, if not nil, when fingerprints are compared and the reading begins
}

// TextMemory is the default of Texts.Memory. The rest is in the system's cache of the file while
// there is memory for it.
const TextMemory = 8 << 20

// memory returns the bytes for sets of shingles.
func (t *Texts) memory() int64 {
	if t.Memory <= 0 {
		return TextMemory
	}
	return t.Memory
}

// ReadOptions configure how a corpus is read.
type ReadOptions struct {
	Keep     keep.Order
	Sketches bool // documents get sketches, and those of fingerprint files are read
	Source   source.Options
	SameURL  []string       // fields, whose first value in a document is its URL; of documents with one URL one is kept
	Find     Options        // for the later call of Find: memory depends on them
	Copies   bool           // the inputs will be copied: memory depends on it, too
	Budget   *memory.Budget // the memory is taken from it, until [Corpus.Close]; nil: no limit
	Threads  int            // goroutines; 0 or less: as many as there are processors
	TempDir  string         // folder of temporary files; default os.TempDir()
	Disk     *disk.Disk     // disk of temporary files; default the system's

	Open ndf.OpenOptions // options for fingerprint files

	// Say, if not nil, is called with the largest memory that everything takes: for fingerprints before they are
	// read; for documents before that, when their number is unknown and 0, and before they are compared. With
	// spilled, everything that grows with their number is in temporary files, because there is less memory.
	Say func(documents int, bytes uint64, spilled bool)

	readingBytes uint64 // for reading documents
	columnBytes  uint64 // in memory of a column; default [columnBytes]
}
