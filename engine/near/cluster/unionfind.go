package cluster

import "sync/atomic"

// A UnionFind is a disjoint-set forest over the indices of its elements, 4 bytes each. Many goroutines may unite sets
// at a time. The root of a set is its smallest element, so the forest does not depend on the order of the unions. With
// path halving alone a union still costs O(log n), amortised.
//
// A parent is always less than its child. Other goroutines can only replace parents by smaller ones, and turn roots
// into children. So the last step of a union is a compare-and-swap.
type UnionFind []uint32

// NewUnionFind returns a forest in the memory of elements, which it overwrites. Each element is a set of its own.
func NewUnionFind(elements []uint32) UnionFind {
	for i := range elements {
		elements[i] = uint32(i)
	}
	return elements
}

// Find returns the root of the set of x, which is its smallest element. Many goroutines may call it.
func (u UnionFind) Find(x uint32) uint32 {
	for {
		parent := atomic.LoadUint32(&u[x])
		if parent == x {
			return x
		}
		if grandparent := atomic.LoadUint32(&u[parent]); grandparent != parent {
			atomic.CompareAndSwapUint32(&u[x], parent, grandparent)
			parent = grandparent
		}
		x = parent
	}
}

// Union unites the sets of a and b, and reports whether they were different. Many goroutines may call it.
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

// flatten returns the root of each element, in the same memory. No union may follow.
func (u UnionFind) flatten() []uint32 {
	for i := range u {
		u[i] = u[u[i]] // u[i] is less than i, so it is flat already
	}
	return u
}
