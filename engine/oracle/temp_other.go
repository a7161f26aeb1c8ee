//go:build !linux

package oracle

// MemoryTemp has tests make their temporary files in memory, where that is known to be faster.
func MemoryTemp() {}
