package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

// scatterHalvesGeneric is the specification of scatterHalves: every partition has room for all of src.
func scatterHalvesGeneric(p *HalfPartitions, src []uint64, row uint64) {
	kept := uint64(1)<<p.Keep - 1
	for i, x := range src {
		for half, key := range [2]uint64{bits.RotateLeft64(x, 32), x} {
			next := &p.Next[half<<p.Bits|int(uint32(key)>>(32-p.Bits))]
			p.Words[*next] = key&kept | (row+uint64(i))<<p.Keep
			*next++
		}
	}
}

// checkScatterHalves compares the kernel in use with a known answer: two partitions a half, 40 bits kept.
func checkScatterHalves() error {
	const room = HalvesRoomMin | 8
	p := HalfPartitions{Words: make([]uint64, 4*room), Next: []uint64{0, room, 2 * room, 3 * room}, Bits: 1, Room: room, Keep: 40}
	src := []uint64{0x8000_0000_4000_0001, 0x0123_4567_fe00_0000, 0xff00_0012_8000_0034}
	if done, full := ScatterHalves(&p, src, 0xabc); done != 3 || full >= 0 {
		return fmt.Errorf("done %d, full %d, want 3, -1", done, full)
	}
	for i, want := range [4][]uint64{
		{0xabd_00_0123_4567},
		{0xabc_01_8000_0000, 0xabe_34_ff00_0012},
		{0xabc_00_4000_0001},
		{0xabd_67_fe00_0000, 0xabe_12_8000_0034},
	} {
		if words := p.Words[i*room : p.Next[i]]; !slices.Equal(words, want) {
			return fmt.Errorf("partition %d: got %#x, want %#x", i, words, want)
		}
	}
	return nil
}
