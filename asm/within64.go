package asm

// within64Call is how many elements one call into assembly looks at: 256 KiB,
// 20 to 60 microseconds from memory.
const within64Call = 32 << 10

// Within64 finds the elements of xs that differ from q in at most k bits and
// writes their indexes to dst in ascending order. It returns how many it wrote and
// how many elements of xs it has dealt with. scanned < len(xs) means that dst is
// full and xs[scanned] is the next hit: the caller empties dst and goes on with
// xs[scanned:], whose indexes start from 0 again. An index has 32 bits, so one call
// deals with at most 2^32 elements.
//
// It takes two cycles (AVX-512) or four (AVX2) for a line of 64 bytes, where memory delivers one in
// ten or more: the scan costs what reading costs.
func Within64(dst []uint32, xs []uint64, q uint64, k int) (n, scanned int) {
	if k < 0 {
		return 0, len(xs)
	}
	k = min(k, 64)
	xs = xs[:min(uint64(len(xs)), 1<<32)]
	raceRead(xs)
	raceWrite(dst)
	for scanned < len(xs) {
		part := xs[scanned:min(scanned+within64Call, len(xs))]
		found, done := within64(dst[n:], part, uint32(scanned), q, k)
		n += found
		scanned += done
		if done == len(part) {
			continue
		}
		// Assembly stops before a block whose hits do not all fit; the last of
		// dst is filled here, so that every backend fills it alike.
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
