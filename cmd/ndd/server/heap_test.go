package server

import (
	"runtime"
	"testing"

	"ndd/engine/memory"
)

// TestHeapRoomIsReserved: what a server's heap has beyond the program's own part is taken from the budget, and only where that is large.
func TestHeapRoomIsReserved(t *testing.T) {
	for _, c := range []struct{ limit, room, taken uint64 }{{plenty - 1, heapRoom, 0}, {plenty, heapRoomPlenty, heapRoomPlenty - heapRoom}} {
		b := memory.NewBudget(memory.Limit{Bytes: c.limit})
		room, release := heapRoomOf(b)
		if taken := c.limit - b.Left(); room != c.room || taken != c.taken {
			t.Errorf("of %d bytes: %d of room, %d taken", c.limit, room, taken)
		}
		release()
		if b.Left() != c.limit {
			t.Errorf("of %d bytes %d are left", c.limit, b.Left())
		}
	}
	if room, release := heapRoomOf(nil); room != heapRoom || release == nil {
		t.Errorf("%d of room without a budget", room)
	}
}

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
