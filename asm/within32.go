package asm

// within32Call is how many elements one call into assembly looks at: 256 KiB, as
// within64Call.
const within32Call = 64 << 10

// Within32 is [Within64] for elements of 32 bits: the indexes of those of xs that
// differ from q in at most k bits, in ascending order, with the same results where
// dst is full.
//
// It searches keys that share too many leading bits for a table to tell apart: the
// long buckets of a join.
func Within32(dst []uint32, xs []uint32, q uint32, k int) (n, scanned int) {
	if k < 0 {
		return 0, len(xs)
	}
	k = min(k, 32)
	xs = xs[:min(uint64(len(xs)), 1<<32)]
	raceRead(xs)
	raceWrite(dst)
	for scanned < len(xs) {
		part := xs[scanned:min(scanned+within32Call, len(xs))]
		found, done := within32(dst[n:], part, uint32(scanned), q, k)
		n += found
		scanned += done
		if done == len(part) {
			continue
		}
		part = part[done:] // as in Within64
		found, done = withinGeneric(dst[n:], part, uint32(scanned), q, k)
		n += found
		scanned += done
		if done < len(part) {
			break
		}
	}
	return n, scanned
}
