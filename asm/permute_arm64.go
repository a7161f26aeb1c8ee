//go:build !purego

package asm

// picksFrom is the minimum length for computing picks, which takes some 1,500 instructions. A key then takes 13
// instructions, instead of several hundred bit by bit.
const picksFrom = 32

// permuteCall is the maximum number of keys per kernel call: about 50 us from memory.
const permuteCall = 16384

func permute(dst, src []uint64, mask uint64, dir direction) {
	if !useNEON || len(src) < picksFrom {
		permuteGeneric(dst, src, mask, dir)
		return
	}
	raceRead(src)
	raceWrite(dst)
	index := bitSource(mask, dir)
	var p picks
	p.fill(&index)
	for len(src) > 0 {
		n := min(len(src), permuteCall)
		permuteNEON(&dst[0], &src[0], n, &p)
		dst, src = dst[n:], src[n:]
	}
}

// picks is a bit permutation as eight table look-ups and tests for two keys at a time. Bit i of result byte j is bit
// test[i][j] of source byte from[i][j].
type picks struct {
	sources [8][16]uint8
	test    [8][16]uint8 // one bit set
}

// fill computes p from the source of every bit of the result.
func (p *picks) fill(index *[64]uint8) {
	for to, from := range index {
		i, j := to%8, to/8
		p.sources[i][j], p.sources[i][j+8] = from/8, from/8+8
		p.test[i][j], p.test[i][j+8] = 1<<(from%8), 1<<(from%8)
	}
}

// permuteNEON moves the bits of n keys, n at least 1, by p.
//
//go:noescape
func permuteNEON(dst, src *uint64, n int, p *picks)
