//go:build !unix

package memory

import "unsafe"

// allocate takes from the Go heap, where the system has nothing better; words
// keep it aligned.
func allocate(size uint64) ([]byte, error) {
	words := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size), nil
}

func release([]byte) {}

// drop keeps what cannot be given back in part.
func drop([]byte) {}
