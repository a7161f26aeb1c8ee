package copies

import (
	"cmp"
	"slices"
)

// methodOf returns the method for the language of a text: CCDet if at least a sixth of its letters are
// Chinese, Japanese or Thai, else SpotSigs. A manual in Chinese may be half code. It reads up to 8 KiB, spread over the
// text.
func methodOf(text string) Method {
	const parts, partBytes = 16, 512
	east, letters := 0, 0
	count := func(part string) {
		for _, r := range part {
			switch {
			case r >= 0x3040 && r <= 0x30ff, r >= 0x3400 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff, r >= 0x0e00 &&
				r <= 0x0e7f, r >= 0x20000 && r <= 0x3ffff:
				east++
				letters++
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= 0xc0 && r < 0x2000:
				letters++
			}
		}
	}
	if len(text) <= parts*partBytes {
		count(text)
	} else {
		for i := range parts {
			count(text[len(text)/parts*i:][:partBytes])
		}
	}
	if 6*east >= letters && east > 0 {
		return CCDet
	}
	return SpotSigs
}

// The minimum share of a text, in percent, that the signatures of its own method must cover. If they cover less, they
// describe only a part of the text, such as the comments of a program or the head of a table. The value for Auto was
// chosen on sources of programs: with 95 a third as many pairs are wrong as with 80.
const (
	autoCover  = 95 // minimum with Auto; for other texts winnow decides
	otherCover = 50 // minimum with one method; other texts have at most overlaps
)

// comparedSets returns the sets for the comparison of a document. Its own set is one of them if it is large enough.
// Auto adds the winnow set, and shingles for short documents. Auto also uses the set of a few Chinese sentences, but
// winnow must confirm its pairs.
func (o *Options) comparedSets(s Sets) Sets {
	enough := func(m Method, set []uint64) bool { return len(set) >= max(o.MinFeaturesOf(m), 1) }
	auto := o.Method == Auto
	if !auto || !o.needsShingles(&s) || !enough(Shingles, s.Shingles) {
		s.Shingles = nil
	}
	fewSentences := auto && s.Method == CCDet && o.MinFeatures == 0 && len(s.Own) > 0 && len(s.Winnow) > 0
	if !auto || !fewSentences && !enough(Winnow, s.Winnow) {
		s.Winnow = nil
	}
	if !fewSentences && !enough(s.Method, s.Own) {
		s.Own = nil
	}
	return s
}

// needsShingles reports whether a document is also compared by shingles. That is the case if it has too few signatures
// of its own method. It is also the case if winnow has few signatures and the document's own signatures are not
// reliable, for example because they are from a few Chinese sentences.
func (o *Options) needsShingles(s *Sets) bool {
	return len(s.Own) < max(o.MinFeaturesOf(s.Method), 1) || len(s.Winnow) < sureSize && (s.Method == CCDet || o.hasFew(s))
}

// hasFew reports whether a document has too few signatures of its own method, or too few for the length of its text.
func (o *Options) hasFew(s *Sets) bool {
	cover := uint8(otherCover)
	if o.Method == Auto {
		cover = autoCover
	}
	return len(s.Own) < max(o.MinFeaturesOf(s.Method), 1) || s.Covered < cover
}

// Limits for pairs of Auto. Below the limits of winnow, half of the pairs are wrong on the development set, most of
// them because of a licence or a notice.
const (
	sureContainment  = 0.8 // containment by winnow that suffices for any two documents
	smallContainment = 0.7 // minimum containment by winnow if there are fewer signatures than sureSize
	sureSize         = 24  // signatures of the smaller document; below half of it, sureContainment is required
	sureJaccard      = 0.6 // minimum Jaccard similarity by shingles for two documents that CCDet signs
	confirmJaccard   = 0.4 // minimum Jaccard similarity by winnow for a pair whose own signatures cover too little of a text
)

// settle sorts the pairs of all methods. If two documents have several pairs, it keeps the first that is sure, in
// order of the methods. Argument sentences reports whether both documents of a pair are compared by CCDet.
func (o *Options) settle(pairs []Pair, sentences func(*Pair) bool) (settled []Pair) {
	slices.SortStableFunc(pairs, func(a, b Pair) int {
		return cmp.Or(comparePairs(a, b), cmp.Compare(order(a.Method), order(b.Method)))
	})
	settled = pairs[:0]
	for i, p := range pairs {
		if n := len(settled); n > 0 && comparePairs(settled[n-1], p) == 0 {
			continue
		}
		if o.Method != Auto || o.isSure(&pairs[i], sentences(&pairs[i])) {
			settled = append(settled, p)
		}
	}
	return settled
}

// isSure reports whether a pair of one method of Auto counts. Argument sentences is true if both documents are compared
// by CCDet.
func (o *Options) isSure(p *Pair, sentences bool) bool {
	size := min(p.SizeA, p.SizeB)
	switch {
	case p.Method == Shingles:
		return !sentences || p.Score >= sureJaccard
	case p.Method != Winnow:
		return true
	case sentences || size < int32(o.MinFeaturesOf(Winnow)):
		return false
	case p.Score >= sureContainment:
		return true
	case size < sureSize/2 || size < sureSize && p.Score < smallContainment:
		return false
	}
	return p.Flags&(FewA|FewB) != 0 || p.Relation == Contains || p.Relation == Contained
}

// Rows settles the pairs of one method, which another program found.
func (o *Options) Rows(pairs []Pair) []Pair { return o.settle(pairs, nil) }

func comparePairs(a, b Pair) int {
	return cmp.Compare(uint64(a.A)<<32|uint64(a.B), uint64(b.A)<<32|uint64(b.B))
}
