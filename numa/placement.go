package numa

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Placement counts where an arena's pages are.
type Placement struct {
	Node    int
	Bytes   uint64
	Pages   uint64 // of 4 KiB
	Asked   uint64 // of how many the kernel was asked; 0 where it does not tell
	On      uint64 // of those, on the node
	Missing uint64 // of those, not in memory
}

// pagesMax is of how many pages the kernel is asked: a tenth of a second. Of
// an arena of more than 4 GiB only every nth one is asked for.
const pagesMax = 1 << 20

// pagesPerCall is of how many it is asked in one call.
const pagesPerCall = 1 << 14

// retriesMax is how many times more it is asked, over 31 ms, for pages that seem missing.
const retriesMax = 5

// Placement returns where the arena's pages are now, as the kernel says. It costs 0.1 us for each page of 4 KiB, at
// most a tenth of a second.
func (a *Arena) Placement() Placement {
	p := Placement{Node: a.Node.ID, Bytes: uint64(len(a.Data)), Pages: (uint64(len(a.Data)) + pageBytes - 1) / pageBytes}
	if p.Pages == 0 {
		return p
	}
	stride := (p.Pages + pagesMax - 1) / pagesMax
	sampled := (p.Pages + stride - 1) / stride
	var mu sync.Mutex
	a.host.Each(a.Node, int((sampled+pagesPerCall-1)/pagesPerCall), func(i int) {
		first := uint64(i) * pagesPerCall
		pages := make([]uintptr, min(sampled-first, pagesPerCall))
		on := make([]int32, len(pages))
		for j := range pages {
			pages[j] = address(a.Data) + uintptr((first+uint64(j))*stride*pageBytes)
		}
		if err := a.where(pages, on); err != nil {
			a.host.note("move_pages", "where pages are is not known: move_pages: "+err.Error())
			return
		}
		mu.Lock()
		defer mu.Unlock()
		p.Asked += uint64(len(on))
		for _, node := range on {
			switch {
			case int(node) == p.Node:
				p.On++
			case node < 0:
				p.Missing++
			}
		}
	})
	return p
}

// where asks on which nodes pages are: negative for those that are in no memory.
// The kernel says so too of a page that it is just moving within a node, to make
// room for huge ones, so missing pages are asked for again.
func (a *Arena) where(pages []uintptr, on []int32) error {
	err := a.host.call("move_pages", func() error { return movePages(pages, on) })
	for try := 0; err == nil && try < retriesMax && slices.ContainsFunc(on, func(node int32) bool { return node < 0 }); try++ {
		time.Sleep(time.Millisecond << try)
		for i := range on {
			if on[i] < 0 && err == nil {
				err = movePages(pages[i:i+1], on[i:i+1])
			}
		}
	}
	return err
}

// Add adds the counts of another arena of the same node.
func (p *Placement) Add(q Placement) {
	p.Bytes += q.Bytes
	p.Pages += q.Pages
	p.Asked += q.Asked
	p.On += q.On
	p.Missing += q.Missing
}

// String returns "node 1: 512 MiB, 100.0 % of its pages there", and how many of them are in no memory, if some are not.
func (p Placement) String() string {
	if p.Asked == 0 {
		return fmt.Sprintf("node %d: %d MiB, where is not known", p.Node, p.Bytes>>20)
	}
	s := fmt.Sprintf("node %d: %d MiB, %.1f %% of its pages there", p.Node, p.Bytes>>20,
		100*float64(p.On)/float64(p.Asked))
	if p.Missing > 0 {
		s += fmt.Sprintf(", %d in no memory", p.Missing)
	}
	return s
}
