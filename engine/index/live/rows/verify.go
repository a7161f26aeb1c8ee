package rows

import "example.org/ndd/engine/corpus/sketch"

// Unverified is the similarity of two documents if one of them has no sketch. No accepted pair with sketches has it.
const Unverified float32 = 0

// A Verifier compares the sketches of queries with the sketches of candidates, and refuses documents whose estimated
// Jaccard similarity is below a threshold. The zero value accepts all documents, unverified.
type Verifier struct {
	Queries   []sketch.Sketch // sketch of each query, zero if it has none; nil if no query has one
	Threshold float64         // 0 to 1; 0 compares nothing
}

// Active reports whether a document may be refused.
func (v *Verifier) Active() bool { return v.Threshold > 0 && v.Queries != nil }

// Judge returns the estimated Jaccard similarity of a query and a document, and whether the document is accepted. If
// one of them has no sketch, the document is accepted with the similarity [Unverified].
func (v *Verifier) Judge(query int, s *sketch.Sketch) (similarity float32, ok bool) {
	if !v.Active() || s == nil || *s == (sketch.Sketch{}) || v.Queries[query] == (sketch.Sketch{}) {
		return Unverified, true
	}
	jaccard, _ := sketch.Estimate(&v.Queries[query], s)
	return float32(jaccard), jaccard >= v.Threshold
}

// From returns the verifier of the queries from number first on.
func (v Verifier) From(first int) Verifier {
	if v.Queries != nil {
		v.Queries = v.Queries[first:]
	}
	return v
}
