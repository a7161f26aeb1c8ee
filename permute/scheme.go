package permute

import (
	"fmt"
	"strings"
)

// scheme is a design over blocks instead of bits, as the catalogue keeps it.
type scheme struct {
	name string
	k    int
	// sets has a word for each table: a letter for each of its leading blocks, a is block 0, then the
	// radius where it is not 0.
	sets string
	// sizes are the bits of each block; empty for blocks that are even.
	sizes []int
}

// blocks is the number of blocks: up to the highest letter.
func (s *scheme) blocks() int {
	n := 0
	for _, c := range s.sets {
		if c >= 'a' {
			n = max(n, int(c-'a')+1)
		}
	}
	return n
}

// design assigns bits to the blocks. A scheme also serves any smaller k than its own.
func (s *scheme) design(k int, seed uint64) (Design, error) {
	if k < 0 || k > s.k {
		return Design{}, fmt.Errorf("design %s: serves k = 0 to %d, not %d", s.name, s.k, k)
	}
	sizes := s.sizes
	if sizes == nil {
		sizes = even(64, s.blocks())
	}
	blocks := spread(sizes, seed)
	d := Design{Name: s.name, K: k, Seed: seed}
	for _, set := range strings.Fields(s.sets) {
		t := Table{}
		for _, c := range set {
			if c >= 'a' {
				t.Mask |= blocks[c-'a']
			} else {
				t.Radius = min(int(c-'0'), k)
			}
		}
		d.Tables = append(d.Tables, t)
	}
	return d, nil
}
