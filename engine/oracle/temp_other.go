//go:build !linux

package oracle

// MemoryTemp does nothing on this system. On Linux it moves temporary files to memory.
func MemoryTemp() {}
