package live

import "slices"

// A segment is merged with all behind it when these have outgrown it: when they have more than five thirds of its documents. So the
// documents of segments fall off from the first to the last, of which there are log n, and each document is written
// about as often as there are segments: 3.8 times for a hundred flushes, which leave seven segments at most and four on average. What an
// index was built of is written again only by inserts that outgrow it.
//
//	1 1 + 1 -> 3      3 1 1 + 1 -> 3 3      3 3 1 1 + 1 -> 9      100 9 1 + 1 stays
const (
	outgrownBy = 5
	outgrown   = 3
	// mergedLeast are worth a merge, or one more where they have fewDocs together: who adds a few documents now and then finds a
	// merge each time otherwise.
	mergedLeast = 3
	fewDocs     = 1 << 16
)

// goneMin documents or fewer that are gone are not worth a merge.
const goneMin = 4096

// pick returns the segments to merge next: neighbours that may all be merged, of which the first is outgrown by the others; or one of
// which a quarter is deleted or has expired; nothing when all is well.
func pick(segments []*Segment, now moment, may func(*Segment) bool) []*Segment {
	sizes := make([]uint64, len(segments))
	for i, s := range segments {
		if may(s) {
			sizes[i] = max(s.live(now), 1)
		}
	}
	if begin, end := pickOutgrown(sizes); begin < end {
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

// neverMerged stands for the size of what may not be merged.
const neverMerged = 0

// pickOutgrown returns which neighbours are to be merged, by their sizes, the last ones first; none where both are equal.
func pickOutgrown(sizes []uint64) (begin, end int) {
	for end := len(sizes); end > 0; end-- {
		begin, behind := end, uint64(0)
		from := end
		for ; from > 0 && sizes[from-1] != neverMerged; from-- {
			size, least := sizes[from-1], mergedLeast
			if behind+size <= fewDocs {
				least++
			}
			if outgrown*behind > outgrownBy*size && end-from+1 >= least {
				begin = from - 1
			}
			behind += size
		}
		if begin < end {
			return begin, end
		}
		end = from
	}
	return 0, 0
}
