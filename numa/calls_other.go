//go:build !linux

package numa

import "errors"

// This system supports none of these calls. Memory is in the Go heap.

func mmap(bytes int) ([]byte, error)     { return make([]byte, bytes), nil }
func munmap([]byte) error                { return nil }
func mbind([]byte, int) error            { return errors.ErrUnsupported }
func hugepage([]byte) error              { return errors.ErrUnsupported }
func movePages([]uintptr, []int32) error { return errors.ErrUnsupported }
func setAffinity([]int) error            { return errors.ErrUnsupported }
func firstThread() bool                  { return false }
