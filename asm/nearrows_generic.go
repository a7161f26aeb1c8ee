package asm

import "math/bits"

// nearRowsGeneric is the specification of nearRows. It stops before a bucket that is too large,
// not within keys, or longer than the space in dst.
func nearRowsGeneric(dst []uint32, keys []uint64, ends []uint32, start uint32, k int) (n, done int) {
	for d, to := range ends {
		if to < start || to-start > NearBucketMax || uint64(to) > uint64(len(keys)) || int(to-start) > len(dst)-n {
			return n, d
		}
		bucket := keys[start:to]
		for i, a := range bucket {
			for _, b := range bucket[i+1:] {
				if bits.OnesCount64(a^b) <= k {
					dst[n] = start + uint32(i)
					n++
					break
				}
			}
		}
		start = to
	}
	return n, len(ends)
}
