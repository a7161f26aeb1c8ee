package asm

import "fmt"

// NearRunMax is the longest run that NearRows compares, and how long its dst must be for
// every call to make progress.
const NearRunMax = 1024

// NearRows compares all keys of a run with each other, run by run: run d is
// keys[ends[d-1]:ends[d]], the first begins at from. It writes to dst, ascending, every
// index i for which a key behind keys[i] in its run differs from it in at most k bits, 0 to
// 63: a row of the run's triangle that has a pair. Pairs are rare, so finding them in their rows
// is the caller's. It stops before a run of more than NearRunMax keys, or of as many as dst might
// have no room for, and returns how many indexes it wrote and how many runs are done. Ends that
// descend or lie outside of keys are a programmer's error and panic.
//
// Napkin, AVX-512: 8 keys a step, and a step is XOR, popcount, minimum, with one comparison a
// row: m/16 + 1/2 steps of 1.5 cycles and some 8 cycles a row of a run of m.
func NearRows(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int) {
	if k < 0 || k > 63 {
		panic(fmt.Sprintf("asm: near rows within %d bits", k))
	}
	raceRead(keys)
	raceRead(ends)
	raceWrite(dst)
	for done < len(ends) {
		// So many runs that a call stays short, by the ends that are right.
		steps, last, to := 0, done, from
		for last < len(ends) && steps < nearRowsCall && ends[last] >= to {
			run := int(ends[last] - to)
			steps += 8 + run*(run/16+8)
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
			panic(fmt.Sprintf("asm: run %d from %d to %d of %d keys", done, from, to, len(keys)))
		}
		break
	}
	return n, done
}

// nearRowsCall is about how many cycles one call of a kernel takes: 30 us, or what the
// longest run takes, 60.
const nearRowsCall = 80_000
