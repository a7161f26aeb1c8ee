package live

import (
	"cmp"
	"slices"
)

// An Edit is one step from a version to the next: which segments and memtables leave it and which
// come. Build, open, flush, merge and placement are edits, and nothing else makes a version.
// What is removed is named by identity, never by its place in a list, so that edits of different
// documents may be prepared side by side.
type Edit struct {
	Remove          []*Segment
	removeMemtables []*memtable
	Add             []*Segment
	addMemtable     *memtable
}

// Apply makes e's version the current one. It needs x.mu, or that nobody else has x yet. The error
// is one of giving memory back.
func (x *Index) Apply(e Edit) error {
	next := new(version)
	if v := x.current.Load(); v != nil {
		next.segments = slices.DeleteFunc(slices.Clone(v.segments), func(s *Segment) bool { return slices.Contains(e.Remove, s) })
		next.memtables = slices.DeleteFunc(slices.Clone(v.memtables), func(m *memtable) bool { return slices.Contains(e.removeMemtables, m) })
	}
	next.segments = append(next.segments, e.Add...)
	slices.SortFunc(next.segments, func(a, b *Segment) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.end(), b.end())) })
	if e.addMemtable != nil {
		next.memtables = append(next.memtables, e.addMemtable)
	}
	next.bytes = next.memory()
	x.reserve(next)
	return x.publish(next)
}
