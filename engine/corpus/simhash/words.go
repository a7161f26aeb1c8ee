package simhash

import "unsafe"

// Words returns the fingerprints as the words that tables and kernels work on: the same memory,
// not a copy.
func Words(f []Fingerprint) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.SliceData(f)), len(f))
}

// Fingerprints is the inverse of [Words]: the same memory, not a copy.
func Fingerprints(words []uint64) []Fingerprint {
	return unsafe.Slice((*Fingerprint)(unsafe.SliceData(words)), len(words))
}
