package copies

import (
	"cmp"
	"slices"

	"ndd/engine/copies/signature"
)

// A Passage is a part of a text that another one has too.
type Passage struct {
	Start, End int // bytes of the text
}

// An Explanation is what two texts have in common by one method.
type Explanation struct {
	Method               Method
	SizeA, SizeB, Shared int       // distinct signatures
	A, B                 []Passage // of each text, in order, apart from each other
	CoveredA, CoveredB   float64   // share of each text's bytes that its passages have
}

// Explain returns the passages of two texts that their common signatures are made of. Signatures that overlap, or stand
// so near that less than gap bytes lie between them, are one passage.
func (s *Signer) Explain(m Method, a, b string, gap int) Explanation {
	sigsA, sigsB := s.Append(nil, m, a), s.Append(nil, m, b)
	setA, setB := signature.AppendSet(nil, sigsA), signature.AppendSet(nil, sigsB)
	e := Explanation{Method: m, SizeA: len(setA), SizeB: len(setB), Shared: signature.Shared(setA, setB)}
	e.A, e.CoveredA = passages(sigsA, setB, gap, len(a))
	e.B, e.CoveredB = passages(sigsB, setA, gap, len(b))
	return e
}

// passages merges the places of those signatures that the other text has.
func passages(signatures []signature.Signature, other []uint64, gap, bytes int) (all []Passage, covered float64) {
	for _, x := range signatures {
		if _, ok := slices.BinarySearch(other, x.Hash); ok {
			all = append(all, Passage{int(x.Start), int(x.End)})
		}
	}
	slices.SortFunc(all, func(a, b Passage) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	merged := all[:0]
	for _, p := range all {
		if n := len(merged); n > 0 && p.Start < merged[n-1].End+max(gap, 1) {
			merged[n-1].End = max(merged[n-1].End, p.End)
			continue
		}
		merged = append(merged, p)
	}
	sum := 0
	for _, p := range merged {
		sum += p.End - p.Start
	}
	if bytes > 0 {
		covered = float64(sum) / float64(bytes)
	}
	return merged, covered
}
