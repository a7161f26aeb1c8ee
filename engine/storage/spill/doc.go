// Package spill keeps sorted records in temporary files if they do not fit in memory.
//
// A sorted run is a file of records in order. Records are sorted in memory in pieces, and each piece is written as a
// run. All runs are merged when they are read:
//
//	records ..memory full--> sort --Spill--> run 0 --.
//	records ..memory full--> sort --Spill--> run 1 ---+--Merge--> records in order, each once
//	records ..the rest-----> sort -------------------'
//
// Records that are already in order need no merge: they are appended to one [Run] and mapped when it is complete. A
// [Column] is a list of numbers that becomes a file only beyond a limit of memory.
//
// Records have one to three words and are ordered by these words. Files have the layout of memory, so only the
// process that wrote a run can read it. The files are temporary files of package disk: they have no name if the
// system allows that, and disappear with the process.
//
// Cost: a record is written once and read once, sequentially, in buffers. After every [runsMax] runs, these are
// merged into one, which is one more write and read. A merge of r runs takes log2 r comparisons per record. Errors
// are of type [Error].
package spill

import (
	"fmt"
	"unsafe"
)

// A Record has one to three words. The first word is the most significant.
type Record interface {
	~uint64 | ~[2]uint64 | ~[3]uint64
}

// An Error reports that a temporary file failed. Usually its folder is full or does not exist.
type Error struct {
	Task string // the records, such as "hits"
	Dir  string // folder of the file
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("temporary file of %s in %s: %v: set TMPDIR, or the output, to a folder with more space",
		e.Task, e.Dir, e.Err)
}

// Unwrap returns the error of the system.
func (e *Error) Unwrap() error { return e.Err }

// less reports whether a sorts before b.
func less[R Record](a, b *R) bool {
	x, y := Words(a), Words(b)
	for i, v := range x {
		if v != y[i] {
			return v < y[i]
		}
	}
	return false
}

// Words returns the words of a record. They share its memory.
func Words[R Record](r *R) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(r)), unsafe.Sizeof(*r)/8)
}
