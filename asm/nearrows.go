package asm

import "fmt"

// NearBucketMax is the maximum size of a bucket for NearRows. If dst has this length, every call makes progress.
const NearBucketMax = 1024

// NearRows compares all keys of each bucket with each other. Bucket d is keys[ends[d-1]:ends[d]], and the first bucket
// begins at start. It writes to dst, ascending, every index i such that a later key of the bucket differs from keys[i]
// in at most k bits, 0 to 63. So each index has at least one pair. Pairs are rare, so the caller compares these keys
// with the later ones again. NearRows stops before a bucket of more than NearBucketMax keys, or one whose indexes may
// not fit in dst. It returns the numbers of indexes and of completed buckets. It panics if ends descend or are outside
// of keys.
//
// With AVX-512, a bucket of m keys takes m/16 + 1/2 steps of 1.5 cycles and some 8 cycles for each row.
func NearRows(dst []uint32, keys []uint64, ends []uint32, start uint32, k int) (n, done int) {
	if k < 0 || k > 63 {
		panic(fmt.Sprintf("asm: near rows within %d bits", k))
	}
	raceRead(keys)
	raceRead(ends)
	raceWrite(dst)
	for done < len(ends) {
		// Limit the number of buckets to keep the call short, and check their ends.
		steps, last, to := 0, done, start
		for last < len(ends) && steps < nearRowsCall && ends[last] >= to {
			size := int(ends[last] - to)
			steps += 8 + size*(size/16+8)
			to = ends[last]
			last++
		}
		last = max(last, done+1)
		// Compare the keys of these buckets.
		found, ready := nearRows(dst[n:], keys, ends[done:last], start, k)
		n += found
		if done += ready; ready > 0 {
			start = ends[done-1]
		}
		if done == last {
			continue
		}
		// A bucket did not fit, or its ends are wrong.
		if to := ends[done]; to < start || uint64(to) > uint64(len(keys)) {
			panic(fmt.Sprintf("asm: bucket %d from %d to %d of %d keys", done, start, to, len(keys)))
		}
		break
	}
	return n, done
}

// nearRowsCall is the approximate number of cycles per kernel call: 30 us, or 60 for the largest bucket.
const nearRowsCall = 80_000
