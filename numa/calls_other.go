//go:build !linux

package numa

import (
	"errors"
	"unsafe"
)

// system can do none of it; memory is the Go heap's.
var system = calls{
	mmap:      func(bytes int) ([]byte, error) { return make([]byte, bytes), nil },
	munmap:    func([]byte) error { return nil },
	mbind:     func([]byte, int) error { return errors.ErrUnsupported },
	hugepage:  func([]byte) error { return errors.ErrUnsupported },
	movePages: func([]uintptr, []int32) error { return errors.ErrUnsupported },
	affinity:  func([]int) error { return errors.ErrUnsupported },

	firstThread: func() bool { return false },
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
