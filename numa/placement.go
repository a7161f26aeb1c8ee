package numa

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Placement counts the pages of an arena by the node that they are on.
type Placement struct {
	Node    int
	Bytes   uint64
	Pages   uint64 // pages of 4 KiB
	Sampled uint64 // pages that the kernel was asked about; 0 if it does not answer
	Local   uint64 // sampled pages on the node
	Missing uint64 // sampled pages that are not in memory
}

// pagesMax is the maximum number of sampled pages, which takes a tenth of a second. In an arena of more than 4 GiB
// only every nth page is sampled.
const pagesMax = 1 << 20

// pagesPerCall is the maximum number of pages per call.
const pagesPerCall = 1 << 14

// retriesMax is the maximum number of further calls, within 31 ms, for pages that seem missing.
const retriesMax = 5

// Placement asks the kernel where the pages of the arena are. It takes 0.1 us for each page of 4 KiB, and at most a
// tenth of a second.
func (a *Arena) Placement() Placement {
	p := Placement{Node: a.Node.ID, Bytes: uint64(len(a.Data)), Pages: (uint64(len(a.Data)) + pageBytes - 1) / pageBytes}
	if p.Pages == 0 {
		return p
	}
	// Sample pages at equal distances, in calls of pagesPerCall pages.
	stride := (p.Pages + pagesMax - 1) / pagesMax
	sampled := (p.Pages + stride - 1) / stride
	var mu sync.Mutex
	a.host.Each(a.Node, int((sampled+pagesPerCall-1)/pagesPerCall), func(i int) {
		first := uint64(i) * pagesPerCall
		pages := make([]uintptr, min(sampled-first, pagesPerCall))
		ids := make([]int32, len(pages))
		for j := range pages {
			pages[j] = address(a.Data) + uintptr((first+uint64(j))*stride*pageBytes)
		}
		if err := a.locatePages(pages, ids); err != nil {
			a.host.note("move_pages", "the place of pages is unknown: move_pages: "+err.Error())
			return
		}
		// Count the answers.
		mu.Lock()
		defer mu.Unlock()
		p.Sampled += uint64(len(ids))
		for _, node := range ids {
			switch {
			case int(node) == p.Node:
				p.Local++
			case node < 0:
				p.Missing++
			}
		}
	})
	return p
}

// locatePages writes the node of each page to ids, negative for pages that are not in memory. The kernel also reports a
// negative number while it moves a page within a node, to free space for huge pages. So missing pages are asked again.
func (a *Arena) locatePages(pages []uintptr, ids []int32) error {
	err := a.host.call("move_pages", func() error { return movePages(pages, ids) })
	for try := 0; err == nil && try < retriesMax && slices.ContainsFunc(ids, func(node int32) bool { return node < 0 }); try++ {
		time.Sleep(time.Millisecond << try)
		for i := range ids {
			if ids[i] < 0 && err == nil {
				err = movePages(pages[i:i+1], ids[i:i+1])
			}
		}
	}
	return err
}

// Add adds the counts of another arena of the same node.
func (p *Placement) Add(q Placement) {
	p.Bytes += q.Bytes
	p.Pages += q.Pages
	p.Sampled += q.Sampled
	p.Local += q.Local
	p.Missing += q.Missing
}

// String returns "node 1: 512 MiB, 100.0 % of its pages there". It adds the number of pages that are not in memory,
// if any.
func (p Placement) String() string {
	if p.Sampled == 0 {
		return fmt.Sprintf("node %d: %d MiB, place unknown", p.Node, p.Bytes>>20)
	}
	s := fmt.Sprintf("node %d: %d MiB, %.1f %% of its pages there", p.Node, p.Bytes>>20,
		100*float64(p.Local)/float64(p.Sampled))
	if p.Missing > 0 {
		s += fmt.Sprintf(", %d in no memory", p.Missing)
	}
	return s
}
