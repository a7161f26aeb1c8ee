package live

import (
	"errors"

	"ndd/engine/memory"
)

// ErrNoRoom is wrapped where an insert is refused since memory has no room for more documents. Queries
// and deletions go on, and inserts do when there is room again.
var ErrNoRoom = errors.New("no room for more documents in memory")

const (
	// memtableBytes fill a memtable however few documents they are: a sixteenth of the budget where
	// that is less, but memtableLeast at least.
	memtableBytes = 256 << 20
	memtableLeast = 1 << 20
	// tombstoneBytes is what one takes in its map.
	tombstoneBytes = 48
)

// memtableBytes returns how many bytes fill a memtable of the index.
func (x *Index) memtableBytes() uint64 {
	return min(memtableBytes, max(x.config.Budget.Limit().Bytes/16, memtableLeast))
}

// sealRoom returns how much memory is held for making a segment in memory of a memtable, which takes
// two and a half times what that has of IDs, less for the rest, and some megabytes. Where files are, flushes reserve their own.
func (x *Index) sealRoom() uint64 {
	if x.folder != nil {
		return 0
	}
	return x.memtableBytes()*5/2 + 8<<20
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
	for _, m := range v.memtables {
		bytes += m.memory()
	}
	return bytes
}

// reserve reserves what a version takes. Where the budget has not so much left, the index is short
// of memory: inserts wait for a flush or are refused. It needs x.mu.
func (x *Index) reserve(v *version) {
	if x.inserted == nil {
		x.inserted, _ = x.config.Budget.Reserve("", 0) // nothing always fits
	}
	if x.short = x.inserted.Resize("what was inserted", v.bytes+x.sealRoom()); x.short != nil {
		return
	}
	if most := x.memoryMost(); v.bytes > most {
		x.short = &memory.TooLargeError{What: "what was inserted", Need: v.bytes, Limit: memory.Limit{Bytes: most, Source: "half of " + x.config.Budget.Limit().Source}}
	}
}

// grown reserves what the current version takes, of which a memtable has grown. It needs x.mu.
func (x *Index) grown() {
	v := x.current.Load()
	v.bytes = v.memory()
	if x.reserve(v); x.short != nil {
		x.wakeFlusher()
	}
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

// mustFlush reports whether it is time to make a segment of a version's memtables: where one is full,
// or memory is short and that would help. It needs x.mu.
func (x *Index) mustFlush(v *version) bool {
	if x.config.flushDocs == neverFlush {
		return false
	}
	return len(v.memtables) > 1 || x.short != nil && v.memtables[0].size.Load() > memtableLeast
}
