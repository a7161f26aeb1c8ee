package asm

// withinCall is the maximum number of elements per call of assembly: 256 KiB of 64 bits, 20 to 60 microseconds from
// memory.
const withinCall = 32 << 10

// Within64 finds the elements of xs that differ from q in at most k bits and writes their indexes to dst in ascending
// order. It returns the number of indexes and the number of scanned elements. If scanned < len(xs), dst is full and
// xs[scanned] is the next hit: the caller empties dst and continues with xs[scanned:], whose indexes start at 0
// again. An index has 32 bits, so one call scans at most 2^32 elements.
//
// A line of 64 bytes takes two cycles (AVX-512) or four (AVX2). Memory delivers one in at least ten cycles, so a scan
// is limited by memory.
func Within64(dst []uint32, xs []uint64, q uint64, k int) (n, scanned int) {
	return within(dst, xs, q, k)
}

// Within32 is like [Within64] for elements of 32 bits.
//
// It searches keys that share too many leading bits for a table: the long buckets of a join.
func Within32(dst []uint32, xs []uint32, q uint32, k int) (n, scanned int) {
	return within(dst, xs, q, k)
}

func within[T uint32 | uint64](dst []uint32, xs []T, q T, k int) (n, scanned int) {
	if k < 0 {
		return 0, len(xs)
	}
	k = min(k, 64)
	xs = xs[:min(uint64(len(xs)), 1<<32)]
	raceRead(xs)
	raceWrite(dst)
	for scanned < len(xs) {
		part := xs[scanned:min(scanned+withinCall, len(xs))]
		var found, done int
		switch part := any(part).(type) {
		case []uint64:
			found, done = within64(dst[n:], part, uint32(scanned), uint64(q), k)
		case []uint32:
			found, done = within32(dst[n:], part, uint32(scanned), uint32(q), k)
		}
		n += found
		scanned += done
		if done == len(part) {
			continue
		}
		// Assembly stops before a block whose hits do not all fit. Fill the rest of dst here, so that every backend
		// fills it in the same way.
		part = part[done:]
		found, done = withinGeneric(dst[n:], part, uint32(scanned), q, k)
		n += found
		scanned += done
		if done < len(part) {
			break
		}
	}
	return n, scanned
}
