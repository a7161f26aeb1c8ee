package asm

import "math/bits"

// differGeneric is the specification of differ.
func differGeneric(dst []uint32, query, lines []uint64, rows []uint32) {
	for i, r := range rows {
		n := 0
		for j, x := range lines[int(r)*len(query) : (int(r)+1)*len(query)] {
			n += bits.OnesCount64(x ^ query[j])
		}
		dst[i] = uint32(n)
	}
}
