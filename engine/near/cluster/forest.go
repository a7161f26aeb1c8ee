package cluster

import (
	"context"
	"slices"

	"example.org/ndd/asm"
)

// A spanningForest connects the keys of a bucket by as few near pairs as it takes: a search in
// depth of the graph of near pairs. A key reaches all unreached keys that are near it; then one of
// those that it reached does the same; and when all that are reached have done so, an unreached one
// begins another tree.
//
//	keys   | unreached ........ | reached, no matter |        reached  stack of those that have yet to reach others
//
// Every key is compared once with those that are unreached then: without near pairs that is the
// triangle of all pairs; where many are near each other soon all are reached. So a bucket costs the
// least of its square, and its keys times how many must be compared until all are reached; never
// its pairs. The last one reached comes first: it is farthest from those that have been compared.
type spanningForest struct {
	ctx  context.Context // looked at from time to time, unless nil
	k    int
	link func(a uint64, near []uint64) // takes the edges of the forest; near belongs to it

	// perKey, if not 0, is how many comparisons are made for each key of the bucket, and
	// comparisonsPerLink for each that is reached, before the forest is left unfinished.
	perKey int

	reached, near []uint64
}

const (
	// After this number of comparisons, 6 ns a key and 90 a link, joining the rest is cheaper.
	comparisonsPerKey  = 64
	comparisonsPerLink = 1024

	forestBlock = 1024    // keys compared with one at a time
	forestCheck = 1 << 24 // keys compared until the context is looked at again: 2 ms
)

// push appends keys that a has reached to those that have yet to reach others: each once, and none
// that is equal to a, since those would reach nothing else.
func (s *spanningForest) push(a uint64, near []uint64) {
	if len(near) > 1 {
		slices.Sort(near)
	}
	for i, b := range near {
		if b != a && (i == 0 || b != near[i-1]) {
			s.reached = append(s.reached, b)
		}
	}
}

// connect links the keys and returns those that it has not compared with all others because they
// took too many comparisons; or none, if the context ended. It reorders keys.
func (s *spanningForest) connect(keys []uint64) (rest []uint64) {
	var hits [forestBlock]uint32
	left, check := int64(s.perKey)*int64(len(keys)), forestCheck
	unreached := keys
	s.reached = s.reached[:0]
	for len(unreached) > 0 {
		var a uint64
		if last := len(s.reached) - 1; last >= 0 {
			a, s.reached = s.reached[last], s.reached[:last]
		} else {
			a, unreached = unreached[len(unreached)-1], unreached[:len(unreached)-1]
		}
		left -= int64(len(unreached))
		if check -= len(unreached); check < 0 && s.ctx != nil {
			if check = forestCheck; s.ctx.Err() != nil {
				return nil
			}
		}
		// From the end, so that what takes a hit's place has been compared.
		for to := len(unreached); to > 0; {
			from := max(0, to-forestBlock)
			n, _ := asm.Within64(hits[:], unreached[from:to], a, s.k)
			for i := n - 1; i >= 0; i-- {
				at, last := from+int(hits[i]), len(unreached)-1
				s.near = append(s.near, unreached[at])
				unreached[at] = unreached[last]
				unreached = unreached[:last]
			}
			if n > 0 {
				s.push(a, s.near)
				s.link(a, s.near)
				s.near = s.near[:0]
				left += int64(n) * comparisonsPerLink
			}
			to = from
		}
		if s.perKey > 0 && left < 0 {
			return append(unreached, s.reached...) // all in keys, which are as many and more
		}
	}
	return nil
}
