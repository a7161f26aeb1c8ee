package permute

import (
	"fmt"
	"math/bits"
	"strings"
)

// A scheme is a design of the catalogue. Its masks are over blocks instead of bits.
type scheme struct {
	name string
	k    int
	// sets has a word for each table: a letter for each leading block, where a is block 0, and then the radius if it
	// is not 0.
	sets string
}

// tables parses the sets. The masks are over blocks.
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

// design assigns bits to the blocks. A scheme with radius 0 is also valid for every smaller k.
func (s *scheme) design(k int, seed uint64) (Design, error) {
	tables := s.tables()
	kMin := s.k
	if !strings.ContainsAny(s.sets, "12345678") {
		kMin = 0
	}
	if k < kMin || k > s.k {
		return Design{}, fmt.Errorf("design %s: supports k = %d to %d, not %d", s.name, kMin, s.k, k)
	}
	blocks := spread(balance(tables), seed)
	for i := range tables {
		tables[i].Mask = union(blocks, tables[i].Mask)
	}
	return Design{Name: s.name, K: k, Seed: seed, Tables: tables}, nil
}

// balance chooses the sizes of the blocks for tables whose masks are over blocks. A scheme is valid for all sizes, so
// balance minimises the candidates. It starts with even blocks. Then it moves single bits from one block to another,
// the best move first, while that reduces the tables' share of the fingerprints. The result determines the bits of a
// named design, so this function must not change.
func balance(tables []Table) []int {
	all := uint64(0)
	for _, t := range tables {
		all |= t.Mask
	}
	sizes := even(64, bits.Len64(all))
	for best := shareOf(tables, sizes); ; {
		source, target := -1, -1
		for a := range sizes {
			for b := range sizes {
				if a == b || sizes[a] == 1 {
					continue
				}
				sizes[a]--
				sizes[b]++
				if s := shareOf(tables, sizes); s < best {
					best, source, target = s, a, b
				}
				sizes[a]++
				sizes[b]--
			}
		}
		if source < 0 {
			return sizes
		}
		sizes[source]--
		sizes[target]++
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

// spread divides the 64 bits into blocks of the given sizes, which sum to 64, and returns their masks. The paper
// assigns bits "uniformly at random". Here the seed makes this reproducible, and prevents that the template of a site
// fills one block:
//
//   - seed 0: blocks of neighbouring bits, the first block the most significant; for examples and for data that is
//     known to be uniform.
//   - any other seed: the 64 positions are shuffled by Fisher and Yates from the last position down. Position i is
//     exchanged with position (next * (i+1)) >> 64, where next is the SplitMix64 generator with that seed (Steele,
//     Lea, Flood, OOPSLA 2014).
//
// Stored indexes contain their masks. But ByName must return the same design for the same seed in all versions, so
// this function must not change.
func spread(sizes []int, seed uint64) []uint64 {
	place := shufflePlaces(seed)
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

func shufflePlaces(seed uint64) (place [64]uint8) {
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

// even divides total bits into blocks that differ by at most one bit, the larger ones first.
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

// union returns the union of the blocks whose numbers are set in chosen.
func union(blocks []uint64, chosen uint64) (mask uint64) {
	for ; chosen != 0; chosen &= chosen - 1 {
		mask |= blocks[bits.TrailingZeros64(chosen)]
	}
	return mask
}
