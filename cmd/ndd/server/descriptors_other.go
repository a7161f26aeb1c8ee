//go:build !unix

package server

import "math"

// descriptors returns the maximum number of open files of the process.
func descriptors() int { return math.MaxInt32 }
