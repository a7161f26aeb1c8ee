package postings

import (
	"fmt"
	"math"
)

// A Measure is a similarity of two sets.
type Measure int

const (
	// Jaccard is shared signatures over those that either set has.
	Jaccard Measure = iota
	// Containment is shared signatures over those of the smaller set.
	Containment
)

// Options configures a join.
type Options struct {
	Measure   Measure
	Threshold float64 // least similarity of a pair, above 0 and at most 1
	Threads   int     // default: one for each processor

	// Known is how many of the first documents are known: pairs have one known document and one other; default 0, and
	// all pairs are found.
	Known int

	// MemoryBytes is the memory for one slice of the documents; default: no limit, and one slice.
	// Sets and pairs come on top.
	MemoryBytes uint64

	// Progress, if not nil, is told by many goroutines what part of a join is done.
	Progress func(done, total uint64)

	// MaxPairs is how many pairs are held in memory, [PairBytes] each; more are an error. Default: no limit.
	MaxPairs uint64

	// MaxDocuments is how many documents a signature may be in that finds candidates; default
	// 10,000. See the package comment.
	MaxDocuments int

	// MaxEqual is how many documents with equal sets are listed in all their pairs; default 1,000.
	// Of more, each is listed with the first of them alone.
	MaxEqual int
}

// PairBytes is the memory of a pair while pairs of equal documents are added and a list grows.
const PairBytes = 3 * 20

// The bounds where no others are asked for.
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
	case o.MaxEqual < 0 || o.MaxDocuments < 0:
		return fmt.Errorf("%d equal documents, %d documents a signature: must not be negative", o.MaxEqual,
			o.MaxDocuments)
	}
	return nil
}

// wanted reports whether a pair of two different documents is asked for.
func (o *Options) wanted(a, b uint32) bool {
	return o.Known == 0 || int(min(a, b)) < o.Known && int(max(a, b)) >= o.Known
}

// Similarity returns the similarity of sets of a and b signatures that share some; 0 if one is
// empty.
func (m Measure) Similarity(a, b, shared int) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	if m == Jaccard {
		return float64(shared) / float64(a+b-shared)
	}
	return float64(shared) / float64(min(a, b))
}

// Possible reports whether sets of a and b signatures can be similar.
func (o *Options) Possible(a, b int) bool {
	return min(a, b) > 0 && max(a, b) <= o.largest(min(a, b))
}

// Similar reports whether sets of a and b signatures that share some reach the threshold. The
// quotient of two integers and the threshold's decimal digits are both rounded to the nearest
// number, so that a pair at exactly the threshold, such as 3 of 5 at 0.6, passes.
func (o *Options) Similar(a, b, shared int) bool {
	return o.Measure.Similarity(a, b, shared) >= o.Threshold
}

// needed returns how many signatures sets of a and b must share, at least 1.
func (o *Options) needed(a, b int) int {
	t := o.Threshold
	about := t * float64(min(a, b))
	if o.Measure == Jaccard {
		about = t / (1 + t) * float64(a+b)
	}
	return first(int(math.Ceil(about)), func(n int) bool { return n > min(a, b) || o.Similar(a, b, n) })
}

// first returns the first number from 1 on for which ok returns true, as it does for all that
// follow. Guess is near it: quotients are rounded either way.
func first(guess int, ok func(n int) bool) int {
	n := max(guess, 1)
	for n > 1 && ok(n-1) {
		n--
	}
	for !ok(n) {
		n++
	}
	return n
}

// largest returns the size of the largest set that can be similar to one of n.
func (o *Options) largest(n int) int {
	if o.Measure == Containment {
		return math.MaxInt
	}
	return first(int(float64(n)/o.Threshold), func(size int) bool { return !o.Similar(n, size+1, n) })
}

// smallest returns the size of the smallest set that can be similar to one of n.
func (o *Options) smallest(n int) int {
	if o.Measure == Containment {
		return 1
	}
	return first(int(float64(n)*o.Threshold), func(size int) bool { return size >= n || o.Similar(size, n, size) })
}

// Bounds are the limits of sets that may be similar to one of n signatures.
type Bounds struct {
	Smallest, Largest int // sizes
	Least             int // signatures that any of them shares
}

// Bounds returns the bounds for a set of n signatures, at least 1.
func (o *Options) Bounds(n int) Bounds {
	smallest := o.smallest(n)
	return Bounds{smallest, o.largest(n), o.needed(smallest, n)}
}
