package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

// halvesGeneric is the specification of halves: every pile has room for all of src.
func halvesGeneric(h *Halves, src []uint64, row uint64) {
	kept := uint64(1)<<h.keep - 1
	for i, x := range src {
		for half, key := range [2]uint64{bits.RotateLeft64(x, 32), x} {
			next := &h.next[half<<h.bits|int(uint32(key)>>(32-h.bits))]
			h.words[*next] = key&kept | (row+uint64(i))<<h.keep
			*next++
		}
	}
}

// siftGeneric is the specification of sift: the bit of a word is the number that the
// upper bits of its low half are, less shift ones.
func siftGeneric(dst, words, bitmap []uint64, shift uint64) (n int) {
	for _, w := range words {
		bit := uint32(w) >> shift
		dst[n] = w
		n += int(bitmap[bit>>6] >> (bit & 63) & 1)
	}
	return n
}

// checkHalves is the known answer: two piles a half, 40 bits kept, and a map that has two bits of
// each 64, of which a word's number is its leading byte.
func checkHalves() error {
	h := NewHalves(make([]uint64, 4*(HalvesCall|8)), HalvesOptions{Bits: 1, Room: HalvesCall, Keep: 40})
	src := []uint64{0x8000_0000_4000_0001, 0x0123_4567_fe00_0000, 0xff00_0012_8000_0034}
	if done, half, _ := h.Deal(src, 0xabc); done != 3 || half >= 0 {
		return fmt.Errorf("done %d, half %d, want 3, -1", done, half)
	}
	want := [4][]uint64{
		{0xabd_00_0123_4567},
		{0xabc_01_8000_0000, 0xabe_34_ff00_0012},
		{0xabc_00_4000_0001},
		{0xabd_67_fe00_0000, 0xabe_12_8000_0034},
	}
	keys := [4][]uint64{{0x0123_4567_0000_0000}, {0x8000_0000_0000_0001, 0xff00_0012_0000_0034},
		{0x4000_0001}, {0x67_fe00_0000, 0x12_8000_0034}}
	bitmap := []uint64{1 << 1, 2, 1 << 63, 1<<63 | 1<<62}
	kept := [4][]uint64{want[0], slices.Clone(want[1][1:]), {}, want[3][:1]}
	for i := range want {
		words := h.Take(i/2, i%2)
		if !slices.Equal(words, want[i]) {
			return fmt.Errorf("pile %d: got %#x, want %#x", i, words, want[i])
		}
		for j, w := range words {
			if key := h.Known(w, i/2); key != keys[i][j] || h.Row(w) != want[i][j]>>40 {
				return fmt.Errorf("pile %d: word %#x is of row %d and %#x, want %#x", i, w, h.Row(w), key, keys[i][j])
			}
		}
		if n := h.Sift(words, words, bitmap); !slices.Equal(words[:n], kept[i]) {
			return fmt.Errorf("pile %d: kept %#x, want %#x", i, words[:n], kept[i])
		}
	}
	return nil
}
