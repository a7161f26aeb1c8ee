package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

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

// nearRowsGeneric is the specification of nearRows. It stops before a run that is too long,
// not within keys, or longer than the room in dst.
func nearRowsGeneric(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int) {
	for d, to := range ends {
		if to < from || to-from > NearRunMax || uint64(to) > uint64(len(keys)) || int(to-from) > len(dst)-n {
			return n, d
		}
		run := keys[from:to]
		for i, a := range run {
			for _, b := range run[i+1:] {
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

// checkNearRows is the known answer: runs of 1, 20 and 3 keys, multiples of a number, with two
// pairs inside runs, one across them, and one too far apart.
func checkNearRows() error {
	keys := make([]uint64, 24)
	for i := range keys {
		keys[i] = uint64(0x9e3779b97f4a7c15) * uint64(i+1)
	}
	keys[19] = keys[2] ^ 0x8000000000000011 // one run
	keys[20] = keys[7] ^ 0x10101010         // four bits
	keys[21] = keys[20] ^ 1                 // different runs
	keys[23] = keys[22] ^ 1<<40
	dst := make([]uint32, len(keys))
	n, done := NearRows(dst, keys, []uint32{1, 21, 24}, 0, 3)
	if want := []uint32{2, 22}; done != 3 || !slices.Equal(dst[:n], want) {
		return fmt.Errorf("rows %d of %d runs, want %d", dst[:n], done, want)
	}
	return nil
}
