package cluster

import (
	"context"
	"slices"

	"example.org/ndd/asm"
)

// A spanningForest connects the keys of a bucket by as few near pairs as possible. It is a depth-first search of the
// graph of near pairs. A key reaches all unreached keys near it. Then one of the reached keys does the same. When all
// reached keys have done so, an unreached key begins another tree.
//
//	keys   | unreached ........ | not used any more |        reached  stack of keys that have not reached others yet
//
// Every key is compared once with all keys that are unreached at that time. Without near pairs, these are all pairs of
// the bucket. If many keys are near each other, all are reached soon. So the cost is at most the square of the bucket,
// and does not depend on the number of near pairs. The key that was reached last is next, because it is farthest from
// the keys that were compared before.
type spanningForest struct {
	ctx  context.Context // checked from time to time, unless nil
	k    int
	link func(a uint64, neighbours []uint64) // takes the edges of the forest; neighbours belongs to it

	// perKey, if not 0, limits the comparisons: perKey for each key of the bucket, and comparisonsPerLink for each
	// key that is reached. Beyond the limit the forest stays unfinished.
	perKey int

	reached, neighbours []uint64
}

const (
	// After this number of comparisons, 6 ns a key and 90 ns a link, a join of the rest is cheaper.
	comparisonsPerKey  = 64
	comparisonsPerLink = 1024

	forestBlock = 1024    // number of keys compared with one key in a call
	forestCheck = 1 << 24 // number of comparisons between two checks of the context: 2 ms
)

// push pushes the keys that a has reached onto the stack, each once. It leaves out keys that are equal to a, because
// they would reach no other keys.
func (s *spanningForest) push(a uint64, neighbours []uint64) {
	if len(neighbours) > 1 {
		slices.Sort(neighbours)
	}
	for i, b := range neighbours {
		if b != a && (i == 0 || b != neighbours[i-1]) {
			s.reached = append(s.reached, b)
		}
	}
}

// connect links the keys. If that takes too many comparisons, it returns the keys that it has not compared with all
// others. It returns none if the context ended. It reorders keys.
func (s *spanningForest) connect(keys []uint64) (unconnected []uint64) {
	var hits [forestBlock]uint32
	steps, check := int64(s.perKey)*int64(len(keys)), forestCheck
	unreached := keys
	s.reached = s.reached[:0]
	// Take a key that has not compared itself yet, if possible one that was reached.
	for len(unreached) > 0 {
		var a uint64
		if last := len(s.reached) - 1; last >= 0 {
			a, s.reached = s.reached[last], s.reached[:last]
		} else {
			a, unreached = unreached[len(unreached)-1], unreached[:len(unreached)-1]
		}
		// Pay for the comparisons, and check the context.
		steps -= int64(len(unreached))
		if check -= len(unreached); check < 0 && s.ctx != nil {
			if check = forestCheck; s.ctx.Err() != nil {
				return nil
			}
		}
		// The loop runs from the end. So the key that replaces a hit has already been compared.
		for to := len(unreached); to > 0; {
			from := max(0, to-forestBlock)
			n, _ := asm.Within64(hits[:], unreached[from:to], a, s.k)
			for i := n - 1; i >= 0; i-- {
				index, last := from+int(hits[i]), len(unreached)-1
				s.neighbours = append(s.neighbours, unreached[index])
				unreached[index] = unreached[last]
				unreached = unreached[:last]
			}
			if n > 0 {
				s.push(a, s.neighbours)
				s.link(a, s.neighbours)
				s.neighbours = s.neighbours[:0]
				steps += int64(n) * comparisonsPerLink
			}
			to = from
		}
		if s.perKey > 0 && steps < 0 {
			return append(unreached, s.reached...) // keys has space for all of them
		}
	}
	return nil
}
