package table

import "ndd/permute"

// flipList hands out the flips of a search: all at once where there are at most two at a time, which are
// 2,081 patterns or fewer, and otherwise those of a walk, some hundreds at a time. A search makes the
// probes of all its queries with what it has, and goes on to the next. A list stays for the next search
// with the same flips.
type flipList struct {
	set  permute.FlipSet
	list []uint64
	walk permute.FlipWalk
	made bool // list is all of set
}

// listedRadius is how many flips a pattern has at most for all patterns to be listed.
const listedRadius = 2

// first returns the first patterns of a set.
func (l *flipList) first(set permute.FlipSet) []uint64 {
	if l.made && l.set == set {
		return l.list
	}
	l.set, l.walk, l.made, l.list = set, set.Walk(), set.Radius <= listedRadius, l.list[:0]
	if !l.made {
		return l.next()
	}
	for l.add() {
	}
	return l.list
}

// next returns the patterns that follow, none at the end.
func (l *flipList) next() []uint64 {
	if l.made {
		return nil
	}
	l.list = l.list[:0]
	for len(l.list) == 0 && l.add() { // a step of the walk may have none, and be followed by others
	}
	return l.list
}

// add adds the next patterns of the walk, and reports whether there was a step.
func (l *flipList) add() bool {
	base, low := l.walk.Next()
	for _, flip := range low {
		l.list = append(l.list, base^flip<<(l.set.Shift&63))
	}
	return low != nil
}
