package version

import (
	"cmp"
	"slices"

	"ndd/engine/index/live/memtable"
)

// An Edit is one step from a version to the next: the segments and memtables that leave it, and
// those that join it. Building, opening, flushing, merging and placing are edits, and nothing else
// makes a version. Segments are removed by identity, never by their position in a list, so that
// edits of different documents may be prepared side by side.
type Edit struct {
	Remove          []*Segment
	RemoveMemtables []*memtable.Table
	Add             []*Segment
	AddMemtable     *memtable.Table
}

// Next returns the version that an edit makes of the current one.
func (w *Set) Next(e Edit) *Version {
	next := new(Version)
	if v := w.current.Load(); v != nil {
		next.Segments = slices.DeleteFunc(slices.Clone(v.Segments),
			func(s *Segment) bool { return slices.Contains(e.Remove, s) })
		next.Memtables = slices.DeleteFunc(slices.Clone(v.Memtables),
			func(m *memtable.Table) bool { return slices.Contains(e.RemoveMemtables, m) })
	}
	next.Segments = append(next.Segments, e.Add...)
	slices.SortFunc(next.Segments, func(a, b *Segment) int {
		return cmp.Or(cmp.Compare(a.From, b.From),
			cmp.Compare(a.End(), b.End()))
	})
	if e.AddMemtable != nil {
		next.Memtables = append(next.Memtables, e.AddMemtable)
	}
	next.Bytes = next.Memory()
	return next
}
