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

// compared returns the sets that a document is compared by. Its own set counts if it has enough signatures. Auto
// adds winnow, and shingles if the own set is too small. Auto also uses a small set of CCDet, with winnow to
// confirm its pairs; see settle.
func (o *Options) compared(s Sets) Sets {
	enough := func(m Method, set []uint64) bool { return len(set) >= max(o.MinFeaturesOf(m), 1) }
	few := o.few(&s)
	if o.Method != Auto {
		s.Winnow, s.Shingles = nil, nil
		if few {
			s.Own = nil
		}
		return s
	}
	if few && (s.Method != CCDet || o.MinFeatures != 0 || len(s.Own) == 0) {
		s.Own = nil
	}
	confirms := s.Own != nil && few && len(s.Winnow) > 0
	if !confirms && !enough(Winnow, s.Winnow) {
		s.Winnow = nil
	}
	if s.Own != nil || !enough(Shingles, s.Shingles) {
		s.Shingles = nil
	}
	return s
}

// few reports whether a document has too few signatures of its own method to be compared by it alone.
func (o *Options) few(s *Sets) bool { return len(s.Own) < max(o.MinFeaturesOf(s.Method), 1) }

// Limits for pairs that only winnow finds. Below them half of these pairs are wrong on the development set.
const (
	sureContainment = 0.8 // enough for two documents of similar size that SpotSigs does not find
	sureSize        = 12  // signatures of the smaller document; with fewer, sureContainment is required
)

// settle sorts the pairs of all methods, which are in order of the methods. Of several pairs of the same two documents
// it keeps one or none. If OtherSites is set, it then removes pairs of one site and returns their number. Argument
// sentences reports whether both documents of a pair are compared by CCDet.
func (o *Options) settle(all []Pair, sentences func(*Pair) bool) (settled []Pair, sameSite int) {
	slices.SortStableFunc(all, comparePairs)
	settled = all[:0]
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && comparePairs(all[i], all[j]) == 0 {
			j++
		}
		first, last := &all[i], &all[j-1]
		few, choice, ok := first.Flags&(FewA|FewB) != 0, i, true
		switch {
		case o.Method != Auto:
		case sentences(first) && few: // winnow must confirm: very many documents may have one sentence
			choice, ok = j-1, first.Method == CCDet && last.Method == Winnow
		case sentences(first):
			ok = first.Method == CCDet
		case first.Method == Winnow:
			ok = first.Score >= sureContainment || min(first.SizeA, first.SizeB) >= sureSize &&
				(few || first.Relation == Contains || first.Relation == Contained)
		}
		if ok {
			settled = append(settled, all[choice])
		}
		i = j
	}
	if o.OtherSites {
		found := len(settled)
		settled = slices.DeleteFunc(settled, func(p Pair) bool { return p.Flags.Has(SameSite) })
		sameSite = found - len(settled)
	}
	return settled, sameSite
}

// Rows settles the pairs of one method that were found elsewhere, and flags common documents. It returns the number of
// pairs of one site that it removes.
func (o *Options) Rows(pairs []Pair) (rows []Pair, sameSite int) {
	rows, sameSite = o.settle(pairs, nil)
	flagCommon(rows, (*Pair).part)
	return rows, sameSite
}

func comparePairs(a, b Pair) int {
	return cmp.Compare(uint64(a.A)<<32|uint64(a.B), uint64(b.A)<<32|uint64(b.B))
}
