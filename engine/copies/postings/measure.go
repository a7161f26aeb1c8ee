package postings

import (
	"fmt"
	"math"
)

// Measure is how alike two sets are.
type Measure int

const (
	// Jaccard is shared signatures over those that either set has.
	Jaccard Measure = iota
	// Containment is shared signatures over those of the smaller set.
	Containment
)

// Options say which pairs to find.
type Options struct {
	Measure   Measure
	Threshold float64 // least similarity of a pair, above 0 and at most 1
	Threads   int     // default: one for each processor

	// MaxDocuments is how many documents a signature may be in that finds candidates; default 10,000. See the package comment.
	MaxDocuments int

	// MaxEqual is how many documents with equal sets are listed in all their pairs; default 1,000. Of more, each is
	// listed with the first of them alone.
	MaxEqual int
}

const (
	defaultMaxDocuments = 10_000
	defaultMaxEqual     = 1_000
)

func (o *Options) check() error {
	if !(o.Threshold > 0 && o.Threshold <= 1) {
		return fmt.Errorf("threshold %g: must be above 0 and at most 1", o.Threshold)
	}
	if o.Measure != Jaccard && o.Measure != Containment {
		return fmt.Errorf("measure %d: must be Jaccard or Containment", o.Measure)
	}
	if o.MaxEqual < 0 {
		return fmt.Errorf("%d equal documents: must not be negative", o.MaxEqual)
	}
	if o.MaxDocuments < 0 {
		return fmt.Errorf("%d documents a signature: must not be negative", o.MaxDocuments)
	}
	return nil
}

// Similarity returns how alike sets of a and b signatures are that share some; 0 where one is empty.
func (m Measure) Similarity(a, b, shared int) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	if m == Jaccard {
		return float64(shared) / float64(a+b-shared)
	}
	return float64(shared) / float64(min(a, b))
}

// similar is the one test that decides. The quotient of two integers and the threshold's decimal digits are both rounded to the nearest
// number, so that a pair at exactly the threshold, such as 3 of 5 at 0.6, passes.
func (o *Options) similar(a, b, shared int) bool {
	return o.Measure.Similarity(a, b, shared) >= o.Threshold
}

// needed returns how many signatures sets of a and b must share, at least 1.
func (o *Options) needed(a, b int) int {
	t := o.Threshold
	about := t * float64(min(a, b))
	if o.Measure == Jaccard {
		about = t / (1 + t) * float64(a+b)
	}
	n := max(int(math.Ceil(about))-1, 1) // rounded either way: step to the first that is similar
	for n > 1 && o.similar(a, b, n-1) {
		n--
	}
	for n <= min(a, b) && !o.similar(a, b, n) {
		n++
	}
	return n
}

// least returns how many signatures a set of n must share with any set at least as large: with one just as large, the
// least of all.
func (o *Options) least(n int) int { return o.needed(n, n) }

// largest returns the size of the largest set that can be similar to one of n.
func (o *Options) largest(n int) int {
	if o.Measure == Containment {
		return math.MaxInt
	}
	size := int(float64(n) / o.Threshold)
	for o.similar(n, size+1, n) {
		size++
	}
	for size > n && !o.similar(n, size, n) {
		size--
	}
	return size
}
