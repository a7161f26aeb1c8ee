package rows

import "ndd/engine/corpus/sketch"

// Unverified is the similarity of two documents of which one has no sketch. No other accepted pair has it.
const Unverified float32 = 0

// DefaultThreshold is the least estimated Jaccard similarity of near-duplicates.
const DefaultThreshold = 0.7

// A Verifier compares the sketches of queries with those of documents that are near by
// fingerprint, and refuses documents whose estimated Jaccard similarity is below a threshold. The
// zero value accepts all of them, unverified.
type Verifier struct {
	Queries   []sketch.Sketch // by query; the zero sketch, and nil for all, where there is none
	Threshold float64         // 0 to 1; 0 compares nothing
}

// Active reports whether a document may be refused.
func (v *Verifier) Active() bool { return v.Threshold > 0 && v.Queries != nil }

// Judge returns the estimated Jaccard similarity of a query and a document, and whether the document
// is accepted. Where one of them has no sketch the similarity is [Unverified], and it is.
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
