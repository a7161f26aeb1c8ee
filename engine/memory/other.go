//go:build !unix

package memory

import (
	"errors"
	"os"
	"unsafe"
)

// CanMapFile reports whether this system supports [MapFile].
const CanMapFile = false

// MapFile is not supported: the memory would be in the heap.
func MapFile(*os.File, uint64) ([]byte, error) { return nil, errors.ErrUnsupported }

// allocate uses the Go heap, because this system has no better memory. Words
// keep the memory aligned.
func allocate(size uint64) ([]byte, error) {
	words := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size), nil
}

func release([]byte) {}

// drop does nothing: a part of a heap block cannot be released.
func drop([]byte) {}
