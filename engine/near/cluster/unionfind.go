package cluster

import "sync/atomic"

// A UnionFind is a disjoint-set forest over the indices of its elements, 4 bytes each, in which
// many goroutines may unite sets at a time. The root of a set is its least element, so the forest
// does not depend on the order of the unions; with path halving alone they still cost O(log n)
// each, amortised.
//
// A parent is less than its child, always: what another goroutine changes meanwhile is that
// parents become less, and elements that were roots are roots no more, which is why the
// last step of a union compares and swaps.
type UnionFind []uint32

// NewUnionFind returns a forest in the memory of elements, whatever they hold, in which each is a
// set of its own.
func NewUnionFind(elements []uint32) UnionFind {
	for i := range elements {
		elements[i] = uint32(i)
	}
	return elements
}

// Find returns the root of the set that x is in, which is its least element. It may be called from
// many goroutines.
func (u UnionFind) Find(x uint32) uint32 {
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

// Union makes one set of the two that a and b are in, and reports whether they were two. It may be
// called from many goroutines.
func (u UnionFind) Union(a, b uint32) bool {
	for {
		a, b = u.Find(a), u.Find(b)
		if a == b {
			return false
		}
		if atomic.CompareAndSwapUint32(&u[max(a, b)], max(a, b), min(a, b)) {
			return true
		}
	}
}

// flatten returns the root of each element, in the same memory. There may be no more unions.
func (u UnionFind) flatten() []uint32 {
	for i := range u {
		u[i] = u[u[i]] // a parent is less than its child, so it is flat already
	}
	return u
}
