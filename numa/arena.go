package numa

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// Pages says which pages an arena is to be of.
type Pages int

const (
	// Transparent asks for huge pages, which the system makes where it finds
	// 2 MiB in one piece.
	Transparent Pages = iota
	// HugeTLB takes pages of 2 MiB from the pool that the administrator has
	// set aside on the node (/sys/devices/system/node/node*/hugepages), and is
	// Transparent where that has too few.
	HugeTLB
)

const (
	pageBytes = 4 << 10 // the smallest; other sizes are multiples
	hugeBytes = 2 << 20 // and the alignment of arenas that are larger
	// stepBytes is what one call populates: some 15 ms, after which the free
	// memory is asked again.
	stepBytes = 64 << 20
	// eachMax is how many threads work on one arena: a node's memory is not
	// faster for more.
	eachMax = 16
	// bytesMax is what an address space has, less what alignment takes.
	bytesMax = min(1<<46, math.MaxInt-2*hugeBytes)
)

// An Arena is memory of one node. Data is zeroed at first; it is gone after
// [Arena.Free].
type Arena struct {
	Data  []byte
	Node  UsableNode
	Bound bool  // by the kernel; else it is where its first user was
	Pages Pages // what was had

	host *Host
	raw  []byte // the whole mapping
}

// Arena returns memory of that many bytes on a node, populated. The caller frees it. The error wraps
// [ErrFull] when the node has no room.
func (h *Host) Arena(p UsableNode, bytes uint64, pages Pages) (*Arena, error) {
	a := &Arena{Node: p, host: h}
	switch {
	case bytes == 0:
		return a, nil
	case bytes > bytesMax:
		return nil, fmt.Errorf("node %d: %d bytes are more than memory can have", p.ID, bytes)
	}
	if pages == HugeTLB {
		err := a.make(bytes, HugeTLB)
		if err == nil {
			return a, nil
		}
		h.note("hugetlb", "no pages from the pool of huge pages: "+err.Error())
	}
	if err := a.make(bytes, Transparent); err != nil {
		return nil, err
	}
	return a, nil
}

// make gives the arena its memory, or leaves it without.
func (a *Arena) make(bytes uint64, pages Pages) (err error) {
	h, node := a.host, a.Node.ID
	size, extra := (bytes+pageBytes-1)&^(pageBytes-1), uint64(0)
	a.Pages, a.Bound = pages, false
	if pages == HugeTLB {
		size = (bytes + hugeBytes - 1) &^ (hugeBytes - 1)
		if free := h.freeHuge(node); size > free {
			return fmt.Errorf("node %d has %d MiB of them, %d are needed", node, free>>20, size>>20)
		}
	} else if size >= hugeBytes {
		extra = hugeBytes // to align in; never touched, so never there
	}
	if pages == Transparent && h.topology.Known {
		if err := h.room(node, size); err != nil {
			return err
		}
	}
	if a.raw, err = h.calls.mmap(int(size+extra), pages == HugeTLB); err != nil {
		return fmt.Errorf("node %d: %d bytes of memory: %w", node, size, err)
	}
	from := 0
	if extra > 0 {
		from = -int(address(a.raw)) & (hugeBytes - 1)
	}
	whole := a.raw[from : from+int(size)]
	if h.topology.Known {
		if err := h.calls.mbind(whole, node); err != nil {
			h.note("mbind", "memory cannot be bound to a node, it is where it is first used: mbind: "+err.Error())
		} else {
			a.Bound = true
		}
	}
	if extra > 0 {
		if err := h.calls.hugepage(whole); err != nil {
			h.note("hugepage", "no transparent huge pages: madvise: "+err.Error())
		}
	}
	if err := a.populate(whole); err != nil {
		a.Free()
		return fmt.Errorf("node %d: %d bytes of memory: %w", node, size, err)
	}
	a.Data = whole[:bytes:bytes]
	return nil
}

// populate makes every page be there, by threads of the node.
func (a *Arena) populate(whole []byte) error {
	h := a.host
	steps := (len(whole) + stepBytes - 1) / stepBytes
	var mu sync.Mutex
	var failed error
	h.Each(a.Node, steps, func(i int) {
		part := whole[i*stepBytes : min((i+1)*stepBytes, len(whole))]
		mu.Lock()
		err := failed
		mu.Unlock()
		if err != nil {
			return
		}
		if a.Bound && a.Pages == Transparent && i > 0 { // others take memory too
			err = h.room(a.Node.ID, uint64(len(part)))
		}
		if err == nil {
			err = a.populatePart(part)
		}
		if err != nil {
			mu.Lock()
			failed = errors.Join(failed, err)
			mu.Unlock()
		}
	})
	return failed
}

func (a *Arena) populatePart(part []byte) error {
	for {
		err := a.host.calls.populate(part)
		switch {
		case err == nil:
			return nil
		case retry(err):
		case unknown(err) && a.Pages == Transparent:
			// Kernels before 5.14: a page is there when it has been written.
			for i := 0; i < len(part); i += pageBytes {
				part[i] = 0
			}
			return nil
		default: // a page of the pool that is not there would end the process
			return fmt.Errorf("populate: %w", err)
		}
	}
}

// Free returns the memory to the system. Nothing may use Data any more. Free may be called
// again, and on nil.
func (a *Arena) Free() {
	if a == nil || a.raw == nil {
		return
	}
	raw := a.raw
	a.Data, a.raw = nil, nil
	if err := a.host.calls.munmap(raw); err != nil {
		panic("numa: " + err.Error()) // freed twice
	}
}
