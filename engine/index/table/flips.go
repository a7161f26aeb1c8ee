package table

import "ndd/permute"

// flipList hands out the flips of a search, the same for each of its queries: all at once where there
// are at most two at a time, which are 2,081 patterns or fewer, and otherwise those of a walk, some
// hundreds at a time. The list stays for the next search with the same flips.
//
// What first and next need for a list are arguments, for a search to keep them in registers: a sweep takes
// the one flip of a group for each of a million queries.
type flipList struct {
	set  permute.FlipSet
	list []uint64 // of set, where it is not walked
	walk permute.FlipWalk
	some []uint64 // of walk
	made bool
}

// listedRadius is how many flips a pattern has at most for all patterns to be listed.
const listedRadius = 2

// begin makes ready for the queries of a search, and returns the list of all its patterns, or that they are
// walked.
func (l *flipList) begin(set permute.FlipSet) (listed []uint64, walked bool) {
	walked = set.Radius > listedRadius
	if l.made && l.set == set {
		return l.list, walked
	}
	l.set, l.made, l.list = set, true, l.list[:0]
	if walked {
		return nil, true
	}
	walk := set.Walk()
	for base, low := walk.Next(); low != nil; base, low = walk.Next() {
		for _, flip := range low {
			l.list = append(l.list, base^flip<<(set.Shift&63))
		}
	}
	return l.list, false
}

// first returns the first patterns for the next query.
func (l *flipList) first(listed []uint64, walked bool) []uint64 {
	if !walked {
		return listed
	}
	l.walk = l.set.Walk()
	return l.further()
}

// next returns the patterns that follow, none at the end.
func (l *flipList) next(walked bool) []uint64 {
	if !walked {
		return nil
	}
	return l.further()
}

func (l *flipList) further() []uint64 {
	base, low := l.walk.Next()
	l.some = l.some[:0]
	for _, flip := range low {
		l.some = append(l.some, base^flip<<(l.set.Shift&63))
	}
	return l.some
}
