package postings

import (
	"cmp"
	"fmt"
	"runtime"
)

// Options configures a join.
type Options struct {
	Measure   Measure
	Threshold float64 // minimum similarity of a pair, above 0 and at most 1
	Threads   int     // default: number of processors

	// Known is the number of known documents, which come first. A pair has a known document and another one. By default
	// all pairs are found.
	Known int
	// KnownPairs also finds pairs of two known documents.
	KnownPairs bool

	// MemoryBytes limits the memory of one slice, in addition to sets and pairs. By default there is no limit and one
	// slice.
	MemoryBytes uint64

	// Progress, if not nil, gets the progress of the join. Several goroutines call it.
	Progress func(done, total uint64)

	// MaxPairs limits the pairs in memory, [PairBytes] each; more are an error. By default there is no limit.
	MaxPairs uint64

	// MinDocuments and MaxDocuments limit the number of documents of a signature that finds candidates. The defaults
	// are 2 and [MaxDocuments]. Documents with equal sets count as one. See the package comment.
	MinDocuments, MaxDocuments int

	// MaxEqual limits the documents with equal sets that are listed in all their pairs; default [MaxEqual].
	MaxEqual int
}

// PairBytes is the memory of a pair while pairs of equal documents are added and a list grows.
const PairBytes = 3 * 20

// The default limits.
const (
	MaxDocuments = 10_000
	MaxEqual     = 1_000
)

// Check returns an error that names an option out of range.
func (o *Options) Check() error {
	switch {
	case !(o.Threshold > 0 && o.Threshold <= 1):
		return fmt.Errorf("threshold %g: must be above 0 and at most 1", o.Threshold)
	case o.Measure != Jaccard && o.Measure != Containment:
		return fmt.Errorf("measure %d: must be Jaccard or Containment", o.Measure)
	case o.MaxEqual < 0 || o.MinDocuments < 0 || o.MaxDocuments < 0:
		return fmt.Errorf("%d equal documents, %d to %d documents of a signature: must not be negative", o.MaxEqual,
			o.MinDocuments, o.MaxDocuments)
	case o.MinDocuments > cmp.Or(o.MaxDocuments, MaxDocuments):
		return fmt.Errorf("at least %d documents of a signature: must not be above the maximum, %d", o.MinDocuments,
			cmp.Or(o.MaxDocuments, MaxDocuments))
	}
	return nil
}

// complete checks the options and sets the defaults.
func (o *Options) complete() error {
	if err := o.Check(); err != nil {
		return err
	}
	o.MaxDocuments = cmp.Or(o.MaxDocuments, MaxDocuments)
	o.MaxEqual = cmp.Or(o.MaxEqual, MaxEqual)
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	return nil
}

// Finds reports whether a signature of a number of documents finds candidates.
func (o *Options) Finds(documents int) bool {
	return documents >= o.MinDocuments && documents <= cmp.Or(o.MaxDocuments, MaxDocuments)
}

// isWanted reports whether the result may have a pair of two different documents.
func (o *Options) isWanted(a, b uint32) bool {
	return o.Known == 0 || int(min(a, b)) < o.Known && (o.KnownPairs || int(max(a, b)) >= o.Known)
}

// The memory of a join is divided into eight shares. Sorting takes sortShare of them
// and releases them before the queries take queryShare. The signatures of several
// documents take resultShare, and so do the prefixes.
const (
	shares      = 8
	sortShare   = 5
	resultShare = 2
	queryShare  = 4
)

// share returns the bytes of some shares, or 0 if there is no limit.
func (o *Options) share(parts uint64) uint64 { return o.MemoryBytes / shares * parts }
