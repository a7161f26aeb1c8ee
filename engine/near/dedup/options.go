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
	Exact bool // drop only documents with equal texts; requires K = 0 and no Rule, and ingest.Config.Exact to read documents

	// Rule decides whether a document may be dropped for a near one. Fingerprints alone decide if it has no clauses, or
	// if Texts is nil and the corpus has no sketches.
	Rule Rule

	// Texts, if not nil, makes Find read the texts again and compare them. If it is nil, Rule must have only a minimum
	// of the Jaccard similarity. The estimates of sketches are compared with it. A pair without a sketch is accepted,
	// with an empty likeness.
	Texts *Texts

	// Known, if not nil, is called once with all fingerprints, and with all sketches or nil. It returns the rows that
	// the caller already has, ascending. Each has the ID of a near document that is alike by its sketch. These rows
	// are dropped, and the others are compared with each other.
	Known func(ctx context.Context, fingerprints []uint64, sketches []sketch.Sketch) ([]Drop, error)

	// KnownBytes returns the memory that Known needs for a number of documents. If it is nil, Known needs none.
	KnownBytes func(documents int) uint64

	// Meter, if not nil, counts comparisons.
	Meter *cluster.Meter
}

// Texts configure how texts are compared. The documents must have been read by [ReadDocuments], from files.
type Texts struct {
	Memory int64        // bytes for sets of shingles; default [TextMemory]. Further sets are in a temporary file
	Meter  *input.Meter // counts the reading, if not nil
	Begin  func()       // called, if not nil, after fingerprints are compared and before reading begins
}

// TextMemory is the default of Texts.Memory. The system caches the temporary file of the other sets if it has memory.
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
	Sketches bool // make sketches of documents, or read the sketches of fingerprint files
	Source   source.Options
	SameURL  []string       // fields with URLs, the first value counts; of documents with the same URL one is kept
	Find     Options        // options of the later call of Find; the memory depends on them
	Copies   bool           // true if the inputs will be copied; the memory depends on it
	Budget   *memory.Budget // reserves the memory until [Corpus.Close]; nil means no limit
	Threads  int            // number of goroutines; 0 or less means one for each processor
	TempDir  string         // folder of temporary files; default os.TempDir()
	Disk     *disk.Disk     // disk of temporary files; default the system's

	Open ndf.OpenOptions // options for fingerprint files

	columnBytes uint64 // memory of a column; default [columnBytes]
}
