package live

import (
	"math"
	"slices"
)

// Segments are merged in tiers: fanout of one tier, with the smaller ones among and behind them, become one of the next. So each
// document is written once for each tier that the index has filled, log4 of the number of flushes, and
// of each tier at most three segments are there. Larger ones stay as they are: what is written
// does not depend on how much is there already.
//
//	1M 1M 1M + 1M -> 4M       4M 4M 4M 1M 1M 1M + 1M -> 16M       100M 1M 1M + 1M stays
const fanout = 4

// goneMin documents or fewer that are gone are not worth a merge.
const goneMin = 4096

// tier returns that of a segment of so many documents; unit documents or fewer are tier 0.
func tier(docs, unit uint64) (t int) {
	for unit *= fanout / 2; docs > unit; unit *= fanout {
		t++
	}
	return t
}

// pick returns the segments to merge next: neighbours that may all be merged, of which fanout are of
// one tier and the others of lower ones; or one of which a quarter is deleted or has expired; nothing when all
// is well.
func pick(segments []*Segment, unit uint64, now moment, may func(*Segment) bool) []*Segment {
	tiers := make([]int, len(segments))
	for i, s := range segments {
		if tiers[i] = neverMerged; may(s) {
			tiers[i] = tier(s.live(now), unit)
		}
	}
	if begin, end := pickTier(tiers); begin < end {
		return segments[begin:end]
	}
	i := slices.IndexFunc(segments, func(s *Segment) bool {
		gone := s.Documents() - s.live(now)
		return may(s) && gone > goneMin && 4*gone >= s.Documents()
	})
	if i < 0 {
		return nil
	}
	return segments[i : i+1]
}

// neverMerged is the tier of what may not be merged.
const neverMerged = math.MaxInt

// pickTier returns which neighbours are to be merged, by their tiers, lower ones first; none where both are equal.
func pickTier(tiers []int) (begin, end int) {
	for t := range 64 / 2 {
		for end := len(tiers); end > 0; {
			begin, n := end, 0
			for ; begin > 0 && tiers[begin-1] <= t; begin-- {
				if tiers[begin-1] == t {
					n++
				}
			}
			if n >= fanout {
				return begin, end
			}
			end = min(begin, end-1)
		}
	}
	return 0, 0
}
