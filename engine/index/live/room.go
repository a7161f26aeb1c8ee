package live

import (
	"errors"
	"slices"

	"ndd/engine/memory"
)

// ErrNoRoom is wrapped where an insert is refused since memory has no room for more documents. Queries
// and deletions go on, and inserts do when there is room again.
var ErrNoRoom = errors.New("no room for more documents in memory")

const (
	// memtableIDBytes of IDs fill a memtable, so that those that wait take 17 MiB at most beside one
	// insert's, however long IDs are.
	memtableIDBytes = 1 << 20
	// flushBytes of memory are flushed to a file however few documents they are.
	flushBytes = 256 << 20
	// sealBytes are reserved for sealing and for merges of few documents, which reserve nothing.
	sealBytes = 8 << 20
	// tombstoneBytes is what one takes in its map.
	tombstoneBytes = 48
)

// memory returns how many bytes the memtable takes at most: what it has, and what the last memtable
// may get. Strings and the map of IDs lie in the Go heap, which grows to twice what it has.
func (m *memtable) memory(last bool) uint64 {
	const each, eachID, heap = 8 + 4 + 8, 16 + 48, 2
	docs, ids := uint64(len(m.fingerprints)), uint64(m.idBytes)
	if last {
		ids = memtableIDBytes
	}
	if m.ids != nil {
		ids += docs * eachID
	}
	return docs*each + heap*ids + tombstoneBytes*m.dead.len()
}

// memory returns how many bytes the segment takes beside its file.
func (s *Segment) memory() uint64 {
	const runBytes = 16
	return s.bytes + tombstoneBytes*s.dead.len() + runBytes*uint64(len(s.numbers.rows)+len(s.expires.rows))
}

// memory returns how many bytes the version takes beside the files of segments.
func (v *version) memory() (bytes uint64) {
	for _, s := range v.segments {
		bytes += s.memory()
	}
	for i, m := range v.memtables {
		bytes += m.memory(i == len(v.memtables)-1)
	}
	return bytes
}

// reserve reserves what a version takes. Where the budget has not so much left, the index is short
// of memory: inserts wait for a flush or are refused. It needs x.mu.
func (x *Index) reserve(v *version) {
	if x.inserted == nil {
		x.inserted, _ = x.config.Budget.Reserve("", 0) // nothing always fits
	}
	if x.short = x.inserted.Resize("what was inserted", v.bytes+sealBytes); x.short != nil {
		return
	}
	if most := x.memoryMost(); v.bytes > most {
		x.short = &memory.TooLargeError{What: "what was inserted", Need: v.bytes, Limit: memory.Limit{Bytes: most, Source: "half of " + x.config.Budget.Limit().Source}}
	}
}

// full reports whether more than the last memtable is in memory.
func (v *version) full() bool {
	return len(v.memtables) > 1 || slices.ContainsFunc(v.segments, func(s *Segment) bool { return s.file == nil })
}

// memoryMost returns what may be in memory of an index with files: half of the budget, so that the other
// half is there for writing it to files. An index in memory may take all.
func (x *Index) memoryMost() uint64 {
	limit := x.config.Budget.Limit().Bytes
	if x.folder == nil {
		return limit
	}
	return limit / 2
}

// mustFlush reports whether it is time to write a version's documents to a file. It needs x.mu.
func (x *Index) mustFlush(v *version) bool {
	most := min(flushBytes, x.memoryMost()/4)
	return v.inMemory() >= x.config.flushAt() || v.full() && (v.bytes > most || x.short != nil)
}
