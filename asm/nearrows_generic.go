package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

// nearRowsGeneric is the specification of nearRows. It stops before a bucket that is too large,
// not within keys, or longer than the room in dst.
func nearRowsGeneric(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int) {
	for d, to := range ends {
		if to < from || to-from > NearBucketMax || uint64(to) > uint64(len(keys)) || int(to-from) > len(dst)-n {
			return n, d
		}
		bucket := keys[from:to]
		for i, a := range bucket {
			for _, b := range bucket[i+1:] {
				if bits.OnesCount64(a^b) <= k {
					dst[n] = from + uint32(i)
					n++
					break
				}
			}
		}
		from = to
	}
	return n, len(ends)
}

// checkNearRows compares the kernel in use with a known answer: buckets of 1, 20 and 3 keys, multiples of a number, with two
// pairs inside buckets, one across them, and one too far apart.
func checkNearRows() error {
	keys := make([]uint64, 24)
	for i := range keys {
		keys[i] = uint64(0x9e3779b97f4a7c15) * uint64(i+1)
	}
	keys[19] = keys[2] ^ 0x8000000000000011 // one bucket
	keys[20] = keys[7] ^ 0x10101010         // four bits
	keys[21] = keys[20] ^ 1                 // different buckets
	keys[23] = keys[22] ^ 1<<40
	dst := make([]uint32, len(keys))
	n, done := NearRows(dst, keys, []uint32{1, 21, 24}, 0, 3)
	if want := []uint32{2, 22}; done != 3 || !slices.Equal(dst[:n], want) {
		return fmt.Errorf("rows %d of %d buckets, want %d", dst[:n], done, want)
	}
	return nil
}
