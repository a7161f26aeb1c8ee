package cluster

import (
	"context"

	"ndd/asm"
)

// spanner connects the keys of a run by as few pairs as there need be. A key takes, of those that
// wait, all that are near it; then one of those that it took does so; and when nobody is left who
// has been taken, one that waits begins anew.
//
//	keys   | waiting ........ | taken, no matter |        taken  stack of those that have yet to take
//
// Every key looks once at those that wait then: without near pairs that is the triangle of all
// pairs; where many are near each other soon nobody waits. So a run costs the least of its
// square, and its keys times how many must look until all are taken; never its pairs. The
// last taken looks first: it is farthest from those that have looked.
type spanner struct {
	ctx  context.Context // asked from time to time, unless nil
	k    int
	link func(a uint64, near []uint64) // near is its own

	// patience, if not 0, is how many keys may be compared for each key of the run, and for
	// each that has been taken, before it gives up.
	patience int

	taken, near []uint64
}

const (
	// spanPatience: what has not been connected after so many comparisons, 6 ns and 90, is
	// cheaper to join.
	spanPatience = 64
	spanReward   = 1024

	spanBlock = 1024    // keys compared with one at a time
	spanAsk   = 1 << 24 // keys compared until the context is asked again: 2 ms
)

// span connects the keys and returns those that it has not compared with all others because it
// ran out of patience, or the context ended. It reorders keys.
func (s *spanner) span(keys []uint64) (rest []uint64) {
	var hits [spanBlock]uint32
	left, ask := int64(s.patience)*int64(len(keys)), spanAsk
	waiting := keys
	s.taken = s.taken[:0]
	for len(waiting) > 0 {
		var a uint64
		if last := len(s.taken) - 1; last >= 0 {
			a, s.taken = s.taken[last], s.taken[:last]
		} else {
			a, waiting = waiting[len(waiting)-1], waiting[:len(waiting)-1]
		}
		left -= int64(len(waiting))
		if ask -= len(waiting); ask < 0 && s.ctx != nil {
			if ask = spanAsk; s.ctx.Err() != nil {
				return nil
			}
		}
		// From the end, so that what takes a hit's place has been compared.
		for to := len(waiting); to > 0; {
			from := max(0, to-spanBlock)
			n, _ := asm.Within64(hits[:], waiting[from:to], a, s.k)
			for i := n - 1; i >= 0; i-- {
				at, last := from+int(hits[i]), len(waiting)-1
				s.near = append(s.near, waiting[at])
				waiting[at] = waiting[last]
				waiting = waiting[:last]
			}
			if n > 0 {
				s.taken = append(s.taken, s.near...)
				s.link(a, s.near)
				s.near = s.near[:0]
				left += int64(n) * spanReward
			}
			to = from
		}
		if s.patience > 0 && left < 0 {
			return append(waiting, s.taken...) // all in keys, which are as many and more
		}
	}
	return nil
}
