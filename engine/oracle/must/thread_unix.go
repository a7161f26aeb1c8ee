//go:build unix

package must

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the CPU time of do, which must run in one thread.
func threadTime(do func()) time.Duration {
	var start, end unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &start)
	do()
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &end)
	return time.Duration(end.Nano() - start.Nano())
}
