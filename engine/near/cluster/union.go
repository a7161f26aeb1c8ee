package cluster

import "sync/atomic"

// union is a disjoint-set forest over indices, 4 bytes each, which many goroutines may join
// at a time. The root of a set is its least element, so the forest does not depend on the order of
// the joins; with path halving alone they still cost O(log n) each, amortised.
//
// A parent is less than its child, always: what another goroutine changes meanwhile is that
// parents become lesser, and elements that were roots are roots no more, which is why the
// last step of a join compares and swaps.
type union []uint32

// newUnion puts every element in a set of its own.
func newUnion(elements []uint32) union {
	for i := range elements {
		elements[i] = uint32(i)
	}
	return elements
}

func (u union) find(x uint32) uint32 {
	for {
		parent := atomic.LoadUint32(&u[x])
		if parent == x {
			return x
		}
		if above := atomic.LoadUint32(&u[parent]); above != parent {
			atomic.CompareAndSwapUint32(&u[x], parent, above)
			parent = above
		}
		x = parent
	}
}

// join makes one set of the two that a and b are in, and tells whether they were two.
func (u union) join(a, b uint32) bool {
	for {
		a, b = u.find(a), u.find(b)
		if a == b {
			return false
		}
		if atomic.CompareAndSwapUint32(&u[max(a, b)], max(a, b), min(a, b)) {
			return true
		}
	}
}

// flatten makes every element point at its root. Nobody may join any more.
func (u union) flatten() []uint32 {
	for i := range u {
		u[i] = u[u[i]] // a parent is smaller than its child, so it is flat already
	}
	return u
}
