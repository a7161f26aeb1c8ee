package cluster

// union is a disjoint-set forest over indices, 4 bytes each. The root of a set
// is its least element, so the forest does not depend on the order of the
// joins; with path halving alone they still cost O(log n) each, amortised.
type union []uint32

// newUnion puts every element in a set of its own.
func newUnion(elements []uint32) union {
	for i := range elements {
		elements[i] = uint32(i)
	}
	return elements
}

func (u union) find(x uint32) uint32 {
	for u[x] != x {
		u[x] = u[u[x]]
		x = u[x]
	}
	return x
}

func (u union) join(a, b uint32) {
	a, b = u.find(a), u.find(b)
	u[max(a, b)] = min(a, b)
}

// flatten makes every element point at its root.
func (u union) flatten() []uint32 {
	for i := range u {
		u[i] = u[u[i]] // a parent is smaller than its child, so it is flat already
	}
	return u
}
