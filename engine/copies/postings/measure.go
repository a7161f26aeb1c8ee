package postings

// A Measure is a similarity of two sets.
type Measure int

const (
	// Jaccard is the number of shared signatures divided by the number of all signatures of both sets.
	Jaccard Measure = iota
	// Containment is the number of shared signatures divided by the size of the smaller set.
	Containment
)

// Similarity returns the similarity of sets with a and b signatures that share some. It is 0 if a set is empty.
func (m Measure) Similarity(a, b, shared int) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	if m == Jaccard {
		return float64(shared) / float64(a+b-shared)
	}
	return float64(shared) / float64(min(a, b))
}
