//go:build !unix

package memory

import (
	"errors"
	"os"
	"unsafe"
)

// CanMapFile says whether [MapFile] works here.
const CanMapFile = false

// MapFile is not supported: memory that is taken from a file would be in the heap.
func MapFile(*os.File, uint64) ([]byte, error) { return nil, errors.ErrUnsupported }

// allocate takes from the Go heap, where the system has nothing better; words
// keep it aligned.
func allocate(size uint64) ([]byte, error) {
	words := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size), nil
}

func release([]byte) {}

// drop keeps what cannot be given back in part.
func drop([]byte) {}
