package permute

import "math/bits"

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
