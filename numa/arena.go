package numa

import (
	"fmt"
	"math"
)

const (
	pageBytes = 4 << 10 // the smallest page size; other sizes are multiples
	hugeBytes = 2 << 20
	// eachMax is the maximum number of threads that work on one arena: more do not make a node's memory faster.
	eachMax = 16
	// bytesMax is about the size of an address space.
	bytesMax = min(1<<46, math.MaxInt-pageBytes)
)

// An Arena is memory of one node. Data is initially zero. It is invalid after [Arena.Free].
type Arena struct {
	Data  []byte
	Node  UsableNode
	Bound bool // bound by the kernel; otherwise the memory is on the node of its first user

	host    *Host
	mapping []byte // the whole mapping
}

// Arena returns memory on a node. Pages take memory when they are written. The caller frees the arena. The error
// wraps [ErrFull] if the node has no space.
func (h *Host) Arena(p UsableNode, bytes uint64) (*Arena, error) {
	a := &Arena{Node: p, host: h}
	switch {
	case bytes == 0:
		return a, nil
	case bytes > bytesMax:
		return nil, fmt.Errorf("node %d: %d bytes are more than memory can have", p.ID, bytes)
	}
	// Check that the node has space, because the kernel kills a process that needs more.
	size := (bytes + pageBytes - 1) &^ (pageBytes - 1)
	if h.topology.Known {
		if err := h.room(p.ID, size); err != nil {
			return nil, err
		}
	}
	// Map the memory, bind it and request huge pages. Only the mapping is necessary.
	if err := h.call("mmap", func() (err error) {
		a.mapping, err = mmap(int(size))
		return err
	}); err != nil {
		return nil, fmt.Errorf("node %d: %d bytes of memory: %w", p.ID, size, err)
	}
	if h.topology.Known {
		if err := h.call("mbind", func() error { return mbind(a.mapping, p.ID) }); err != nil {
			h.note("mbind", "memory cannot be bound to a node and is on the node that uses it first: mbind: "+err.Error())
		} else {
			a.Bound = true
		}
	}
	if size >= hugeBytes {
		if err := h.call("madvise hugepage", func() error { return hugepage(a.mapping) }); err != nil {
			h.note("hugepage", "no transparent huge pages: madvise: "+err.Error())
		}
	}
	a.Data = a.mapping[:bytes:bytes]
	return a, nil
}

// Free returns the memory to the system. Data must not be used afterwards. Free may be called again, and on nil.
func (a *Arena) Free() {
	if a == nil || a.mapping == nil {
		return
	}
	mapping := a.mapping
	a.Data, a.mapping = nil, nil
	if err := munmap(mapping); err != nil {
		panic("numa: " + err.Error()) // freed twice
	}
}
