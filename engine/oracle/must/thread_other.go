//go:build !unix

package must

import "time"

// threadTime returns the time of do: this system has no clock of a thread.
func threadTime(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}
