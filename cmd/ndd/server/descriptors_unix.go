//go:build unix

package server

import (
	"math"
	"syscall"
)

// descriptors returns the maximum number of open files of the process.
func descriptors() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(r.Cur), math.MaxInt32))
}
