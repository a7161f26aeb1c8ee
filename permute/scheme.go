package permute

import (
	"fmt"
	"math/bits"
	"strings"
)

// scheme is a design over blocks instead of bits, as the catalogue keeps it.
type scheme struct {
	name string
	k    int
	// sets has a word for each table: a letter for each of its leading blocks, a is block 0, then the
	// radius where it is not 0.
	sets string
}

// tables reads the sets: masks are over blocks.
func (s *scheme) tables() []Table {
	var list []Table
	for _, set := range strings.Fields(s.sets) {
		t := Table{}
		for _, c := range set {
			if c >= 'a' {
				t.Mask |= 1 << (c - 'a')
			} else {
				t.Radius = int(c - '0')
			}
		}
		list = append(list, t)
	}
	return list
}

// design assigns bits to the blocks. A scheme of radius 0 also serves any smaller k than its own.
func (s *scheme) design(k int, seed uint64) (Design, error) {
	tables := s.tables()
	least := s.k
	if !strings.ContainsAny(s.sets, "12345678") {
		least = 0
	}
	if k < least || k > s.k {
		return Design{}, fmt.Errorf("design %s: serves k = %d to %d, not %d", s.name, least, s.k, k)
	}
	blocks := spread(balance(tables), seed)
	for i := range tables {
		tables[i].Mask = union(blocks, tables[i].Mask)
	}
	return Design{Name: s.name, K: k, Seed: seed, Tables: tables}, nil
}

// balance sizes the blocks of tables whose masks are over blocks. A scheme is valid whatever the sizes,
// so they are chosen to compare the fewest candidates: from blocks that are even, single bits move
// from one block to another as long as that makes the tables' share of the fingerprints smaller, the
// best move first. It decides which bits a named design has, so it may not change.
func balance(tables []Table) []int {
	all := uint64(0)
	for _, t := range tables {
		all |= t.Mask
	}
	sizes := even(64, bits.Len64(all))
	for best := shareOf(tables, sizes); ; {
		from, to := -1, -1
		for a := range sizes {
			for b := range sizes {
				if a == b || sizes[a] == 1 {
					continue
				}
				sizes[a]--
				sizes[b]++
				if s := shareOf(tables, sizes); s < best {
					best, from, to = s, a, b
				}
				sizes[a]++
				sizes[b]--
			}
		}
		if from < 0 {
			return sizes
		}
		sizes[from]--
		sizes[to]++
	}
}

func shareOf(tables []Table, sizes []int) (sum float64) {
	for _, t := range tables {
		leading := 0
		for set := t.Mask; set != 0; set &= set - 1 {
			leading += sizes[bits.TrailingZeros64(set)]
		}
		sum += share(leading, t.Radius)
	}
	return sum
}
