package server

import (
	"runtime"
	"testing"
)

// A small heap has room for garbage, and a large one does not grow beyond twice what is in use.
func TestRoomyHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	percent := func() uint64 { return metric("/gc/gogc:percent") }
	before := percent()
	for range 3 { // what earlier tests left in pools goes, too
		runtime.GC()
	}
	room := 8 * metric("/gc/heap/live:bytes")
	stop := roomyHeap(room)
	eventually(t, "a small heap has room", func() bool {
		runtime.GC()
		return percent() > 2*gcPercent
	})
	large := make([]byte, 2*room)
	eventually(t, "a large heap has none beside", func() bool {
		runtime.GC()
		return percent() == gcPercent
	})
	runtime.KeepAlive(large)
	stop()
	runtime.GC()
	if percent() != before {
		t.Errorf("%d percent is left, %d before", percent(), before)
	}
}
