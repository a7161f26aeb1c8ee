//go:build !linux

package store

// adviseHuge does nothing where the system knows no such advice.
func adviseHuge([]byte) {}
