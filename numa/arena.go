package numa

import (
	"fmt"
	"math"
)

const (
	pageBytes = 4 << 10 // the smallest; other sizes are multiples
	hugeBytes = 2 << 20
	// eachMax is how many threads work on one arena: a node's memory is not
	// faster for more.
	eachMax = 16
	// bytesMax is the size of an address space.
	bytesMax = min(1<<46, math.MaxInt-pageBytes)
)

// An Arena is memory of one node. Data is zeroed at first; it is gone after [Arena.Free].
type Arena struct {
	Data  []byte
	Node  UsableNode
	Bound bool // by the kernel; else it is where its first user was

	host *Host
	raw  []byte // the whole mapping
}

// Arena returns memory of that many bytes on a node, which is there when it is written to. The caller frees
// it. The error wraps [ErrFull] when the node has no room.
func (h *Host) Arena(p UsableNode, bytes uint64) (*Arena, error) {
	a := &Arena{Node: p, host: h}
	switch {
	case bytes == 0:
		return a, nil
	case bytes > bytesMax:
		return nil, fmt.Errorf("node %d: %d bytes are more than memory can have", p.ID, bytes)
	}
	size := (bytes + pageBytes - 1) &^ (pageBytes - 1)
	if h.topology.Known {
		if err := h.room(p.ID, size); err != nil {
			return nil, err
		}
	}
	if err := h.call("mmap", func() (err error) {
		a.raw, err = mmap(int(size))
		return err
	}); err != nil {
		return nil, fmt.Errorf("node %d: %d bytes of memory: %w", p.ID, size, err)
	}
	if h.topology.Known {
		if err := h.call("mbind", func() error { return mbind(a.raw, p.ID) }); err != nil {
			h.note("mbind", "memory cannot be bound to a node, it is where it is first used: mbind: "+err.Error())
		} else {
			a.Bound = true
		}
	}
	if size >= hugeBytes {
		if err := h.call("madvise hugepage", func() error { return hugepage(a.raw) }); err != nil {
			h.note("hugepage", "no transparent huge pages: madvise: "+err.Error())
		}
	}
	a.Data = a.raw[:bytes:bytes]
	return a, nil
}

// Free returns the memory to the system. Nothing may use Data any more. Free may be called
// again, and on nil.
func (a *Arena) Free() {
	if a == nil || a.raw == nil {
		return
	}
	raw := a.raw
	a.Data, a.raw = nil, nil
	if err := munmap(raw); err != nil {
		panic("numa: " + err.Error()) // freed twice
	}
}
