package asm

import "fmt"

// NearBucketMax is the largest bucket that NearRows compares, and how long its dst must be for
// every call to make progress.
const NearBucketMax = 1024

// NearRows compares all keys of a bucket with each other, bucket by bucket: bucket d is
// keys[ends[d-1]:ends[d]], the first begins at from. It writes to dst, ascending, every
// index i for which a key behind keys[i] in its bucket differs from it in at most k bits, 0 to
// 63: a row of the bucket's triangle that has a pair. Pairs are rare, so finding them in their rows
// is left to the caller. It stops before a bucket of more than NearBucketMax keys, or of as many as dst might
// have no room for, and returns how many indexes it wrote and how many buckets are done. Ends that
// descend or lie outside of keys are a programmer's error and panic.
//
// With AVX-512, a bucket of m takes m/16 + 1/2 steps of 1.5 cycles and some 8 cycles for each row.
func NearRows(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int) {
	if k < 0 || k > 63 {
		panic(fmt.Sprintf("asm: near rows within %d bits", k))
	}
	raceRead(keys)
	raceRead(ends)
	raceWrite(dst)
	for done < len(ends) {
		// So many buckets that a call stays short, by the ends that are right.
		steps, last, to := 0, done, from
		for last < len(ends) && steps < nearRowsCall && ends[last] >= to {
			size := int(ends[last] - to)
			steps += 8 + size*(size/16+8)
			to = ends[last]
			last++
		}
		last = max(last, done+1)
		found, ready := nearRows(dst[n:], keys, ends[done:last], from, k)
		n += found
		if done += ready; ready > 0 {
			from = ends[done-1]
		}
		if done == last {
			continue
		}
		if to := ends[done]; to < from || uint64(to) > uint64(len(keys)) {
			panic(fmt.Sprintf("asm: bucket %d from %d to %d of %d keys", done, from, to, len(keys)))
		}
		break
	}
	return n, done
}

// nearRowsCall is about how many cycles one call of a kernel takes: 30 us, or what the
// largest bucket takes, 60.
const nearRowsCall = 80_000
