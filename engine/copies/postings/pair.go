package postings

import "fmt"

// A Pair is two similar documents, A < B in order of [Builder.Add].
type Pair struct {
	A, B         uint32
	SizeA, SizeB int32 // signatures
	Shared       int32
}

// ordered returns the pair with the lower document first.
func (p Pair) ordered() Pair {
	if p.A > p.B {
		return Pair{p.B, p.A, p.SizeB, p.SizeA, p.Shared}
	}
	return p
}

// A Report counts the work of a join and the documents that its limits affect.
type Report struct {
	// Unlisted is the number of documents in groups of more than Options.MaxEqual equal sets. Each is paired only
	// with the first document of its group.
	Unlisted   int
	Candidates uint64 // verified pairs
	Slices     int    // slices of the documents

	// Frequent is the number of documents that have signatures outside Options.MinDocuments and Options.MaxDocuments in
	// their prefix. Pairs of these documents are missing if they share no other signature.
	Frequent int
}

// Add adds the report of another join.
func (r *Report) Add(other *Report) {
	r.Unlisted += other.Unlisted
	r.Candidates += other.Candidates
	r.Slices += other.Slices
	r.Frequent += other.Frequent
}

// A TooManyPairsError reports more pairs than [Options].MaxPairs.
type TooManyPairsError struct{ Max uint64 }

func (e *TooManyPairsError) Error() string {
	return fmt.Sprintf("more than %d pairs, which do not fit in the memory", e.Max)
}
