package asm

// within32Call is the maximum number of elements per call of assembly: 256 KiB, like within64Call.
const within32Call = 64 << 10

// Within32 is like [Within64] for elements of 32 bits: it finds the indexes of the elements of xs that differ from q
// in at most k bits, in ascending order. Its results are the same if dst is full.
//
// It searches keys that share too many leading bits for a table: the long buckets of a join.
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
