package copies

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/near/shingle"
)

// A Passage is a part of a text that another text has, too.
type Passage struct {
	Start, End int // byte range in the text
}

// A Term is a signature of a text as words.
type Term struct {
	Passage
	Words  string
	Shared bool // the other text has the signature, too
}

// An Explanation shows the common signatures and passages of two texts by one method.
type Explanation struct {
	Method Method
	Shared int // distinct signatures
	A, B   ExplainedText
}

// An ExplainedText is the part of an Explanation that is about one text.
type ExplainedText struct {
	Size     int       // distinct signatures
	Passages []Passage // shared passages in order, without overlaps
	Covered  float64   // share of the text's bytes in its passages
	Terms    []Term    // signatures in order
}

// MethodOfPair returns the method by which Auto compares two texts. That is the method of their language if they have
// enough signatures of it and are similar. Two texts with too few signatures are compared by shingles, and all others
// by winnow.
func (s *Signer) MethodOfPair(a, b string) Method {
	one, other := s.Sign(a), s.Sign(b)
	m := one.Method
	switch {
	case s.o.comparedSets(one).Own == nil && s.o.comparedSets(other).Own == nil:
		return Shingles
	case m != other.Method || s.o.hasFew(&one) || s.o.hasFew(&other):
		return Winnow
	case m == SpotSigs && m.Measure().Similarity(len(one.Own), len(other.Own),
		shingle.Shared(one.Own, other.Own)) < s.o.ThresholdOf(m):
		return Winnow
	}
	return m
}

// Explain returns the signatures and the shared passages of two texts. Signatures are only a selection. So a passage
// is the text of shared signatures, extended at both ends by the shingles of both texts. Passages with less than gap
// bytes between them are joined. It returns the error of the context of the Signer. Texts of 2 GiB and more are an
// error, too.
func (s *Signer) Explain(m Method, a, b string, gap int) (Explanation, error) {
	if max(len(a), len(b)) > math.MaxInt32 {
		return Explanation{}, errors.New("texts of 2 GiB and more cannot be explained")
	}
	signed := func(m Method, text string) []signature.Signature { return signature.Append(nil, s.selector(m), text) }
	sigsA, sigsB := signed(m, a), signed(m, b)
	setA, setB := signature.Set(sigsA), signature.Set(sigsB)
	shinglesA, shinglesB := signed(Shingles, a), signed(Shingles, b)
	runsA := sharedPassages(shinglesA, signature.Set(shinglesB), 1)
	runsB := sharedPassages(shinglesB, signature.Set(shinglesA), 1)
	explain := func(text string, signatures []signature.Signature, own, other []uint64, runs []Passage) ExplainedText {
		shared := extend(sharedPassages(signatures, other, gap), runs, gap)
		return ExplainedText{len(own), shared, coveredShare(shared, len(text)), s.terms(m, text, signatures, other)}
	}
	return Explanation{Method: m, Shared: shingle.Shared(setA, setB), A: explain(a, sigsA, setA, setB, runsA),
		B: explain(b, sigsB, setB, setA, runsB)}, s.ctx.Err()
}

// terms returns the signatures of a text as words, given the set of the other text.
func (s *Signer) terms(m Method, text string, signatures []signature.Signature, other []uint64) []Term {
	terms := make([]Term, len(signatures))
	for i, x := range signatures {
		part := text[x.Start:x.End]
		switch words := strings.Fields(part); m {
		case SpotSigs:
			part = s.spots.Term(s.reader, part)
		case CCDet:
			part = strings.Join(words, "")
		default:
			part = strings.Join(words, " ")
		}
		_, shared := slices.BinarySearch(other, x.Hash)
		terms[i] = Term{Passage{int(x.Start), int(x.End)}, part, shared}
	}
	return terms
}

// sharedPassages returns the places of the signatures that the other text has, joined.
func sharedPassages(signatures []signature.Signature, other []uint64, gap int) (all []Passage) {
	for _, x := range signatures {
		if _, ok := slices.BinarySearch(other, x.Hash); ok {
			all = append(all, Passage{Start: int(x.Start), End: int(x.End)})
		}
	}
	return merge(all, gap)
}

// merge sorts passages and joins those with less than gap bytes between them.
func merge(passages []Passage, gap int) []Passage {
	slices.SortFunc(passages, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	merged := passages[:0]
	for _, p := range passages {
		if n := len(merged); n > 0 && p.Start < merged[n-1].End+max(gap, 1) {
			merged[n-1].End = max(merged[n-1].End, p.End)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

// extend extends passages by the runs that overlap them. Runs are in order, without overlaps.
func extend(passages, runs []Passage, gap int) []Passage {
	at := 0
	for i := range passages {
		p := &passages[i]
		for at < len(runs) && runs[at].End <= p.Start {
			at++
		}
		end := p.End
		for j := at; j < len(runs) && runs[j].Start < end; j++ {
			p.Start, p.End = min(p.Start, runs[j].Start), max(p.End, runs[j].End)
		}
	}
	return merge(passages, gap)
}

// coveredShare returns the share of a text's bytes in its passages.
func coveredShare(passages []Passage, bytes int) float64 {
	sum := 0
	for _, p := range passages {
		sum += p.End - p.Start
	}
	return float64(sum) / float64(max(bytes, 1))
}
