package asm

import "math/bits"

// scatterHalvesGeneric is the specification of scatterHalves. Every partition has space for all of src.
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
