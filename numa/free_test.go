package numa

import (
	"os"
	"testing"
	"testing/fstest"
)

// TestFree subtracts the memory that the kernel reserves: on a large node the whole zone of devices with 32-bit
// addresses.
func TestFree(t *testing.T) {
	const zones = `Node 0, zone      DMA
  per-node stats
      nr_inactive_anon 7
  pages free     3840
        min      66
        high     98
        managed  3840
        protection: (0, 2939, 257000, 257000)
Node 0, zone   Normal
  pages free     1000000
        high     5000
        protection: (0, 0, 0, 0)
Node 1, zone   Normal
  pages free     1000000
        high     7000
        protection: (0, 0, 0, 0)
`
	page := uint64(os.Getpagesize())
	if a, b := kernelKeeps(zones, 0), kernelKeeps(zones, 1); a != (3840+5000)*page || b != 7000*page ||
		kernelKeeps("pages free x\n", 0) != 0 {
		t.Error(a/page, b/page)
	}
	with := withMemory(1 << 38).(fstest.MapFS)
	h := New(Options{Root: with})
	before, err := h.Free(0)
	with["proc/zoneinfo"] = &fstest.MapFile{Data: []byte(zones)}
	after, err2 := h.Free(0)
	if err != nil || err2 != nil || before != 1<<38-1<<40/reservePart || before-after != 8840*page {
		t.Error(before, after, err, err2)
	}
}
