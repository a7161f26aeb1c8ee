package live

import "slices"

// Segments are merged in tiers: where fanout neighbours of one tier, or of lower ones, stand last,
// they become one of the next. So each document is written once for each tier that the index has
// filled, log4 of the number of flushes, and of each tier at most three segments are there.
//
//	1M 1M 1M + 1M -> 4M       4M 4M 4M 1M 1M 1M + 1M -> 16M
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

// pick returns the segments to merge next: neighbours that may all be merged, of which there are
// fanout of one tier or lower; or one of which a quarter is deleted or has expired; nothing when all
// is well.
func pick(segments []*Segment, unit uint64, now moment, may func(*Segment) bool) []*Segment {
	tiers := make([]int, len(segments))
	for i, s := range segments {
		tiers[i] = tier(s.live(now), unit)
	}
	for t := 0; t < 64/2; t++ {
		for end := len(segments); end > 0; {
			begin := end
			for begin > 0 && may(segments[begin-1]) && tiers[begin-1] <= t {
				begin--
			}
			if end-begin >= fanout {
				return segments[begin:end]
			}
			end = min(begin, end-1)
		}
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
