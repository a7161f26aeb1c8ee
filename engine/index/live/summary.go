package live

import "ndd/engine/index/table"

// SegmentStats are the sizes of one segment.
type SegmentStats struct {
	Documents    uint64 // those that were deleted since counted
	Fingerprints uint64 // distinct ones
	TableBytes   uint64
	Tables       []uint64 // of it, the bytes of each table
	FileBytes    uint64   // 0 where it is in no file
}

// Segments returns the sizes of the segments, in the order of their documents; none once the index is
// closed. It may be called from many goroutines.
func (x *Index) Segments() []SegmentStats {
	slot := x.slot()
	v, err := x.hold(slot)
	if err != nil {
		return nil
	}
	defer x.release(v, slot)
	list := make([]SegmentStats, 0, len(v.segments))
	for _, s := range v.segments {
		one := SegmentStats{Documents: s.Documents(), Fingerprints: s.Fingerprints()}
		for _, t := range s.Tables() {
			one.TableBytes += table.Bytes(t)
			one.Tables = append(one.Tables, table.Bytes(t))
		}
		if s.file != nil {
			one.FileBytes = s.file.Bytes()
		}
		list = append(list, one)
	}
	return list
}

// Merging reports whether a merge of files is under way, or waits to begin.
func (x *Index) Merging() bool {
	if x.merging.TryLock() {
		x.merging.Unlock()
		return false
	}
	return true
}
