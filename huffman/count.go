package huffman

import "math/bits"

// Count adds, for every key after the first, one to the count of its position: that of the most
// significant bit in which it differs from the key before it. keys must be strictly ascending;
// equal neighbours panic. Counts of parts may be added up; where a part ends, let the next begin
// with the last key of the one before.
func Count(counts *[Positions]uint64, keys []uint64) {
	for i := 1; i < len(keys); i++ {
		counts[63-bits.LeadingZeros64(keys[i]^keys[i-1])]++
	}
}
