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

// spread cuts the 64 bits into blocks of the given sizes, which sum to 64, and returns their masks.
// Which bits a block gets is the paper's "uniformly at random", made repeatable by seed, so that no
// template of a site fills one block:
//
//   - seed 0: blocks of neighbouring bits, the first block the most significant; for examples and
//     for data that is known to be uniform.
//   - any other seed: the 64 positions are shuffled first, by Fisher and Yates from the last place
//     down, place i changing with place (next * (i+1)) >> 64, where next is the SplitMix64 generator
//     started at seed (Steele, Lea, Flood, OOPSLA 2014).
//
// Stored indexes carry their masks, but Named must make the same design for the same seed for ever:
// this function may not change.
func spread(sizes []int, seed uint64) []uint64 {
	place := shuffled(seed)
	masks := make([]uint64, len(sizes))
	next := 0
	for i, size := range sizes {
		for _, bit := range place[next : next+size] {
			masks[i] |= 1 << bit
		}
		next += size
	}
	return masks
}

func shuffled(seed uint64) (place [64]uint8) {
	for i := range place {
		place[i] = uint8(63 - i)
	}
	if seed == 0 {
		return place
	}
	state := seed
	for i := 63; i > 0; i-- {
		j, _ := bits.Mul64(splitMix(&state), uint64(i+1))
		place[i], place[j] = place[j], place[i]
	}
	return place
}

func splitMix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// even cuts total bits into blocks that differ by at most one bit, the larger ones first.
func even(total, blocks int) []int {
	sizes := make([]int, blocks)
	for i := range sizes {
		sizes[i] = total / blocks
		if i < total%blocks {
			sizes[i]++
		}
	}
	return sizes
}

// union joins the blocks whose numbers are set in chosen.
func union(blocks []uint64, chosen uint64) (mask uint64) {
	for ; chosen != 0; chosen &= chosen - 1 {
		mask |= blocks[bits.TrailingZeros64(chosen)]
	}
	return mask
}
