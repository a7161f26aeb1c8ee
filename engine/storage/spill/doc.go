// Package spill holds sorted records in temporary files where memory does not do.
//
// A sorted run is a file of records in order. Records are sorted in memory piece by piece, each
// piece is written as a run, and all runs are merged when they are read:
//
//	records ..memory full--> sort --Spill--> run 0 --.
//	records ..memory full--> sort --Spill--> run 1 ---+--Merge--> records in order, each once
//	records ..the rest-----> sort -------------------'
//
// Records that come in order need no merge: they are appended to one [Run], which is mapped when it
// is complete. A [Column] is numbers that begin a run only where they are more than some bytes.
//
// Records are one to three words, in order of the words, and lie in files as they do in memory:
// runs are for the process that wrote them. The files are temporary ones of package disk: they
// have no name where the system allows that, and are gone however the process ends.
//
// Cost: a record is written once and read once, sequentially, in pieces of a buffer; again for
// each [runsMax] runs, which are merged into one. A merge of r runs takes log2 r comparisons a
// record. Errors are [Error].
package spill

import (
	"fmt"
	"unsafe"
)

// A Record is what runs consist of: one to three words, of which the first counts most.
type Record interface {
	~uint64 | ~[2]uint64 | ~[3]uint64
}

// An Error says that a temporary file failed: usually, that its folder is full, or does not exist.
type Error struct {
	What string // the records, such as "hits"
	Dir  string // of the file
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("temporary file of %s in %s: %v: set TMPDIR, or the output, to a folder with more room",
		e.What, e.Dir, e.Err)
}

// Unwrap returns what the system said.
func (e *Error) Unwrap() error { return e.Err }

// less says whether a comes before b.
func less[R Record](a, b *R) bool {
	x, y := Words(a), Words(b)
	for i, v := range x {
		if v != y[i] {
			return v < y[i]
		}
	}
	return false
}

// Words returns the words of a record, in its memory.
func Words[R Record](r *R) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(r)), unsafe.Sizeof(*r)/8)
}
