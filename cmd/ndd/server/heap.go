package server

import (
	"os"
	"runtime"
	"runtime/debug"
	figures "runtime/metrics"
	"sync"

	"ndd/engine/memory"
)

// heapRoom is how much garbage a server's heap has at least when it is collected. The heap itself is a few MiB, since tables are in
// files that are mapped: collected whenever it has doubled, it would be collected dozens of times a second under load, at a fifth
// of the processor time of small queries. What memory.Program counts has room for it.
const heapRoom = 24 << 20

const (
	// heapRoomPlenty is what it is where memory is plenty: with a thousand connections each collection goes through a thousand stacks.
	heapRoomPlenty = 64 << 20
	// plenty is a limit of which that is a small part.
	plenty = 4 << 30
)

// heapRoomOf returns the room that a heap has under a budget, from which what memory.Program does not count is reserved until release is called.
func heapRoomOf(b *memory.Budget) (room uint64, release func()) {
	if b != nil && b.Limit().Bytes >= plenty {
		if r, err := b.Reserve("garbage of requests", heapRoomPlenty-heapRoom); err == nil {
			return heapRoomPlenty, r.Release
		}
	}
	return heapRoom, func() {}
}

// gcPercent is the collector's own setting, by which the heap doubles.
const gcPercent = 100

// percentMost bounds how far a heap that was next to nothing may grow before the room is reckoned anew, which is only after a collection.
const percentMost = 12 * gcPercent

// A collector gives the heap room, until it is stopped.
type collector struct {
	room    uint64
	mu      sync.Mutex
	stopped bool
	percent int
}

// roomyHeap lets the heap have so many bytes of garbage, or as much as there is in use where that is more, until stop is called. It does
// nothing where GOGC says how it is to be.
func roomyHeap(room uint64) (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	c := &collector{room: room, percent: gcPercent}
	c.adjust()
	return c.stop
}

// adjust sets the percentage after a collection, and is called again after the next one.
func (c *collector) adjust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	percent := gcPercent
	if live := metric("/gc/heap/live:bytes"); live > 0 {
		percent = int(max(gcPercent, min(percentMost, c.room*100/live)))
	}
	if more := percent - c.percent; more < -c.percent/8 || more > c.percent/8 { // it stops the world
		debug.SetGCPercent(percent)
		c.percent = percent
	}
	runtime.AddCleanup(new([64]byte), func(c *collector) { c.adjust() }, c)
}

// stop gives the collector's own setting back.
func (c *collector) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	debug.SetGCPercent(gcPercent)
}

// metric returns a figure of the runtime.
func metric(name string) uint64 {
	sample := []figures.Sample{{Name: name}}
	figures.Read(sample)
	return sample[0].Value.Uint64()
}
