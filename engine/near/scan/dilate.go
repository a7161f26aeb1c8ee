package scan

import "math/bits"

// dilate sets the bits of dst whose number differs in at most one bit from that of a bit of
// src. Both have the same number of words, 8 or a larger power of two. Eight words are computed at a
// time: their numbers differ in the word, in the place among the eight, or before that.
func dilate(dst, src []uint64) {
	dst = dst[:len(src)]
	for i := 0; i+8 <= len(src); i += 8 {
		s := (*[8]uint64)(src[i:])
		y0 := dilateWord(s[0]) | s[1] | s[2] | s[4]
		y1 := dilateWord(s[1]) | s[0] | s[3] | s[5]
		y2 := dilateWord(s[2]) | s[3] | s[0] | s[6]
		y3 := dilateWord(s[3]) | s[2] | s[1] | s[7]
		y4 := dilateWord(s[4]) | s[5] | s[6] | s[0]
		y5 := dilateWord(s[5]) | s[4] | s[7] | s[1]
		y6 := dilateWord(s[6]) | s[7] | s[4] | s[2]
		y7 := dilateWord(s[7]) | s[6] | s[5] | s[3]
		for j := 8; j < len(src); j <<= 1 {
			o := (*[8]uint64)(src[i^j:])
			y0 |= o[0]
			y1 |= o[1]
			y2 |= o[2]
			y3 |= o[3]
			y4 |= o[4]
			y5 |= o[5]
			y6 |= o[6]
			y7 |= o[7]
		}
		*(*[8]uint64)(dst[i:]) = [8]uint64{y0, y1, y2, y3, y4, y5, y6, y7}
	}
}

// dilateWord returns dilate of one word.
func dilateWord(x uint64) uint64 {
	y := x | x>>1&0x5555555555555555 | x&0x5555555555555555<<1
	y |= x>>2&0x3333333333333333 | x&0x3333333333333333<<2
	y |= x>>4&0x0f0f0f0f0f0f0f0f | x&0x0f0f0f0f0f0f0f0f<<4
	y |= x>>8&0x00ff00ff00ff00ff | x&0x00ff00ff00ff00ff<<8
	y |= x>>16&0x0000ffff0000ffff | x&0x0000ffff0000ffff<<16
	return y | bits.RotateLeft64(x, 32)
}
