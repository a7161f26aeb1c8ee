package must

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// Linear fails unless the CPU time of do is linear in the size of its input, which form makes. Eight times the input
// may take 32 times as long, because of caches and the garbage collector. Quadratic work takes 64 times as long.
func Linear(t *testing.T, form func(size int) string, do func(input string)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const size, times, tries = 16 << 10, 8, 8
	small, large := form(size), form(size*times)
	short, long := time.Hour, time.Hour
	for range tries {
		short, long = min(short, threadTime(func() { do(small) })), min(long, threadTime(func() { do(large) }))
		if long <= 4*times*short {
			return
		}
	}
	t.Errorf("%.40q: %v for %d bytes, %v for %d", small, short, len(small), long, len(large))
}

// BoundCost compares the CPU time of do for texts of 128 KiB: reference, and each unit repeated. It fails if a unit
// takes more than times as long as reference.
func BoundCost(t *testing.T, times int, reference string, units []string, do func(input string)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const size, tries = 128 << 10, 8
	reference = strings.Repeat(reference, size/len(reference))
	minimum := time.Hour
	for range tries {
		minimum = min(minimum, threadTime(func() { do(reference) }))
	}
	for _, unit := range units {
		text := strings.Repeat(unit, size/len(unit))
		took := time.Hour
		for i := 0; i < tries && took > time.Duration(times)*minimum; i++ {
			took = min(took, threadTime(func() { do(text) }))
		}
		if took > time.Duration(times)*minimum {
			t.Errorf("%+q: %v, limit %d times the %v of plain text", unit, took, times, minimum)
		}
	}
}
