package copies

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"ndd/engine/copies/signature"
	"ndd/engine/near/shingle"
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

// MethodOfPair returns the method that Auto compares two texts by: that of their language; where it
// is not the same, or one of them has too few signatures of it, or they are not similar by it,
// winnow; where both have too few to be compared by it, shingles.
func (s *Signer) MethodOfPair(a, b string) Method {
	one, other := s.Sign(a), s.Sign(b)
	m := one.Method
	ownA, _, _ := s.o.compared(&one)
	ownB, _, _ := s.o.compared(&other)
	switch {
	case !ownA && !ownB:
		return Shingles
	case m != other.Method || s.o.few(&one) || s.o.few(&other):
		return Winnow
	case m == SpotSigs && m.Measure().Similarity(len(one.Own), len(other.Own),
		shingle.Shared(one.Own, other.Own)) < s.o.threshold(m):
		return Winnow
	}
	return m
}

// Explain returns the passages that two texts share. A passage is the text of common signatures,
// extended at both ends over the rows of words or characters that both texts have: signatures are a
// selection, and what both have lies between them, too. Passages with less than gap bytes between
// them are one. The error is that of the Signer's context, or of texts of 2 GiB and more, which places of signatures
// cannot say.
func (s *Signer) Explain(m Method, a, b string, gap int) (Explanation, error) {
	if max(len(a), len(b)) > math.MaxInt32 {
		return Explanation{}, errors.New("texts of 2 GiB and more cannot be explained")
	}
	signed := func(m Method, text string) []signature.Signature { return signature.Append(nil, s.selectors[m], text) }
	sigsA, sigsB := signed(m, a), signed(m, b)
	setA, setB := signature.Set(sigsA), signature.Set(sigsB)
	e := Explanation{Method: m, SizeA: len(setA), SizeB: len(setB), Shared: shingle.Shared(setA, setB)}
	rowsA, rowsB := signed(Shingles, a), signed(Shingles, b)
	runsA := passages(rowsA, signature.Set(rowsB), 1)
	runsB := passages(rowsB, signature.Set(rowsA), 1)
	e.A = extend(passages(sigsA, setB, gap), runsA, gap)
	e.B = extend(passages(sigsB, setA, gap), runsB, gap)
	e.CoveredA, e.CoveredB = covered(e.A, len(a)), covered(e.B, len(b))
	return e, s.ctx.Err()
}

// passages returns the places of those signatures that the other text has, merged.
func passages(signatures []signature.Signature, other []uint64, gap int) (all []Passage) {
	for _, x := range signatures {
		if _, ok := slices.BinarySearch(other, x.Hash); ok {
			all = append(all, Passage{Start: int(x.Start), End: int(x.End)})
		}
	}
	return merge(all, gap)
}

// merge sorts passages and joins those with less than gap bytes between them.
func merge(all []Passage, gap int) []Passage {
	slices.SortFunc(all, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start),
			cmp.Compare(a.End, b.End))
	})
	merged := all[:0]
	for _, p := range all {
		if n := len(merged); n > 0 && p.Start < merged[n-1].End+max(gap, 1) {
			merged[n-1].End = max(merged[n-1].End, p.End)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

// extend extends passages over the runs, which are apart and in order, that they overlap.
func extend(all, runs []Passage, gap int) []Passage {
	at := 0
	for i := range all {
		p := &all[i]
		for at < len(runs) && runs[at].End <= p.Start {
			at++
		}
		end := p.End
		for j := at; j < len(runs) && runs[j].Start < end; j++ {
			p.Start, p.End = min(p.Start, runs[j].Start), max(p.End, runs[j].End)
		}
	}
	return merge(all, gap)
}

// covered returns the share of a text's bytes that passages have.
func covered(all []Passage, bytes int) float64 {
	sum := 0
	for _, p := range all {
		sum += p.End - p.Start
	}
	return float64(sum) / float64(max(bytes, 1))
}
