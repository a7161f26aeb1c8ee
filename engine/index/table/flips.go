package table

import "ndd/permute"

// flipList hands out the flips of a search, the same for each of its queries: all at once where there
// are at most two at a time, which are 2,081 patterns or fewer, and otherwise those of a walk, some
// hundreds at a time. The list stays for the next search with the same flips.
type flipList struct {
	set  permute.FlipSet
	list []uint64 // of set, when it is whole
	walk permute.FlipWalk
	some []uint64 // of walk
	long bool     // set is walked
	made bool
}

// listedRadius is how many flips a pattern has at most for all patterns to be listed.
const listedRadius = 2

// begin makes the list ready for the queries of a search.
func (l *flipList) begin(set permute.FlipSet) {
	if l.made && l.set == set {
		return
	}
	l.set, l.long, l.made, l.list = set, set.Radius > listedRadius, true, l.list[:0]
	if l.long {
		return
	}
	walk := set.Walk()
	for base, low := walk.Next(); low != nil; base, low = walk.Next() {
		for _, flip := range low {
			l.list = append(l.list, base^flip<<(set.Shift&63))
		}
	}
}

// first returns the first patterns for the next query.
func (l *flipList) first() []uint64 {
	if !l.long {
		return l.list
	}
	l.walk = l.set.Walk()
	return l.further()
}

// next returns the patterns that follow, none at the end.
func (l *flipList) next() []uint64 {
	if !l.long {
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
