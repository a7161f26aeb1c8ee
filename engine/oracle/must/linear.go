package must

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Linear fails unless the CPU time of do is linear in the size of its input, which form makes. Eight times the input
// may take 32 times as long, because of caches and the garbage collector. Quadratic work takes 64 times as long.
func Linear(t *testing.T, form func(size int) string, do func(input string)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const size, times, tries = 16 << 10, 8, 8
	small, large := form(size), form(size*times)
	one, all := time.Hour, time.Hour
	for range tries {
		one, all = min(one, threadTime(func() { do(small) })), min(all, threadTime(func() { do(large) }))
		if all <= 4*times*one {
			return
		}
	}
	t.Errorf("%.40q: %v for %d bytes, %v for %d", small, one, len(small), all, len(large))
}

// threadTime returns the CPU time of do, which must run in one thread.
func threadTime(do func()) time.Duration {
	var began, ended unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &began)
	do()
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ended)
	return time.Duration(ended.Nano() - began.Nano())
}

// CostAtMost compares the CPU time of do for texts of 128 KiB: plain, and each unit repeated. It fails if a unit
// takes more than times as long as plain.
func CostAtMost(t *testing.T, times int, plain string, units []string, do func(input string)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const size, tries = 128 << 10, 8
	plain = strings.Repeat(plain, size/len(plain))
	least := time.Hour
	for range tries {
		least = min(least, threadTime(func() { do(plain) }))
	}
	for _, unit := range units {
		text := strings.Repeat(unit, size/len(unit))
		took := time.Hour
		for i := 0; i < tries && took > time.Duration(times)*least; i++ {
			took = min(took, threadTime(func() { do(text) }))
		}
		if took > time.Duration(times)*least {
			t.Errorf("%+q: %v, limit %d times the %v of plain text", unit, took, times, least)
		}
	}
}
