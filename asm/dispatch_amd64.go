//go:build !purego

package asm

import "unsafe"

// This file selects the code of each kernel on amd64, and declares it. The table of kernels (kernels.go) has the same
// information in one place. TestKernelTable compares both with the assembly.

// assembly names the architecture of the assembly in this build.
const assembly = "amd64"

// At most one of them is true. All are false if the generic backend is in use.
var useAVX512, useAVX2 bool

// use selects a backend, which the machine must support.
func use(name string) {
	inUse, useAVX512, useAVX2 = name, name == AVX512, name == AVX2
}

func within64(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int) {
	switch {
	case useAVX512:
		return within64AVX512(dst, xs, base, q, k)
	case useAVX2:
		return within64AVX2(dst, xs, base, q, k)
	}
	return withinGeneric(dst, xs, base, q, k)
}

//go:noescape
func within64AVX512(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int)

//go:noescape
func within64AVX2(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int)

func within32(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int) {
	switch {
	case useAVX512:
		return within32AVX512(dst, xs, base, q, k)
	case useAVX2:
		return within32AVX2(dst, xs, base, q, k)
	}
	return withinGeneric(dst, xs, base, q, k)
}

//go:noescape
func within32AVX512(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)

//go:noescape
func within32AVX2(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)

func differ(dst []uint32, query, lines []uint64, rows []uint32) {
	switch {
	case useAVX512:
		differAVX512(dst, query, lines, rows)
	case useAVX2:
		differAVX2(dst, query, lines, rows)
	default:
		differGeneric(dst, query, lines, rows)
	}
}

//go:noescape
func differAVX512(dst []uint32, query, lines []uint64, rows []uint32)

//go:noescape
func differAVX2(dst []uint32, query, lines []uint64, rows []uint32)

func weightedVotes(counts *[64]uint64, hashes []uint64, weights []uint32) bool {
	switch {
	case useAVX512:
		return weightedVotesAVX512(counts, hashes, weights)
	case useAVX2:
		return weightedVotesAVX2(counts, hashes, weights)
	}
	weightedVotesGeneric(counts, hashes, weights)
	return true
}

//go:noescape
func weightedVotesAVX512(counts *[64]uint64, hashes []uint64, weights []uint32) bool

//go:noescape
func weightedVotesAVX2(counts *[64]uint64, hashes []uint64, weights []uint32) bool

//go:noescape
func prefetchAll(xs unsafe.Pointer, bytes uintptr)

//go:noescape
func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int)

// Prefetching works on every processor, because it is part of amd64.

//go:noescape
func planarPrefetchLines(p *PlanarTable, probes []PlanarProbe)

//go:noescape
func planarPrefetchExtents(p *PlanarTable, extents []PlanarExtent)

func planarLocate(p *PlanarTable, extents []PlanarExtent, probes []PlanarProbe, first uint64, next *PlanarTable,
	ahead []PlanarProbe) (found, done int) {
	var firstAhead *PlanarProbe
	if len(ahead) > 0 {
		firstAhead = &ahead[0]
	}
	switch {
	case useAVX512:
		return planarLocateAVX512(extents, probes, p, first, firstAhead, next)
	case useAVX2:
		return planarLocateAVX2(extents, probes, p, first, firstAhead, next)
	}
	if len(ahead) > 0 {
		planarPrefetchLines(next, ahead)
	}
	return planarLocateGeneric(p, extents, probes, first)
}

// planarLocateAVX512 also prefetches the lines of later probes. ahead is the first of len(probes) of them, or nil.
//
//go:noescape
func planarLocateAVX512(extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable, first uint64,
	ahead *PlanarProbe, next *PlanarTable) (found, done int)

//go:noescape
func planarLocateAVX2(extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable, first uint64,
	ahead *PlanarProbe, next *PlanarTable) (found, done int)

func planarScan(p *PlanarTable, dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe) (hits, done int) {
	switch {
	case useAVX512:
		return planarScanAVX512(dst, extents, probes, p)
	case useAVX2:
		return planarScanAVX2(dst, extents, probes, p)
	}
	return planarScanGeneric(p, dst, extents, probes)
}

//go:noescape
func planarScanAVX512(dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable) (hits, done int)

//go:noescape
func planarScanAVX2(dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable) (hits, done int)

func interpolate(dst []int, keys, targets []uint64) {
	switch {
	case useAVX512:
		interpolateAVX512(&dst[0], &keys[0], len(keys), &targets[0], len(targets))
	case useAVX2 && len(targets)%4 == 0:
		interpolateAVX2(&dst[0], &keys[0], len(keys), &targets[0], len(targets))
	case useAVX2:
		var (
			padded [searchWidth]uint64
			found  [searchWidth]int
		)
		interpolateAVX2(&found[0], &keys[0], len(keys), &padded[0], (copy(padded[:], targets)+3)&^3)
		copy(dst, found[:])
	default:
		interpolateGeneric(dst, keys, targets)
	}
}

// interpolateAVX512 searches 1 to searchWidth keys.
//
//go:noescape
func interpolateAVX512(dst *int, keys *uint64, n int, targets *uint64, m int)

// interpolateAVX2 is like interpolateAVX512, four at a time. m must be a multiple of four.
//
//go:noescape
func interpolateAVX2(dst *int, keys *uint64, n int, targets *uint64, m int)

// decodeServed reports whether the backend in use has decodeKeys.
func decodeServed() bool { return useAVX512 || useAVX2 }

func decodeKeys(dst []uint64, half []byte, w *Window, c *cursor) (answer int) {
	if useAVX512 {
		return decodeAVX512(&dst[0], len(dst), &half[0], len(half), w, c)
	}
	return decodeAVX2(&dst[0], len(dst), &half[0], len(half), w, c)
}

// decodeAVX512 decodes the next n keys of a half, 1 to decodeCall. If n is a multiple of decodeChunk, it moves the
// cursor to their end. It returns decodeOther in three cases, with undefined content of dst: an h above 57, whose raw
// bits may need nine bytes, raw bits within 57 of the beginning, or codes within 15 bytes of the end. A few halves of
// a table have such a case, because sorted keys change one of their top six bits at most 63 times.
//
//go:noescape
func decodeAVX512(dst *uint64, n int, half *byte, halfBytes int, w *Window, c *cursor) int

// decodeAVX2 is like decodeAVX512, four keys at a time.
//
//go:noescape
func decodeAVX2(dst *uint64, n int, half *byte, halfBytes int, w *Window, c *cursor) int

func seek(s *Seek, k int, w *Window) (prefetched int) {
	if useAVX512 {
		return seekAVX512(s, &s.data[0], k, w)
	}
	return seekGeneric(s, k, w)
}

//go:noescape
func seekAVX512(s *Seek, data *byte, k int, w *Window) (prefetched int)

// scatterCombines reports whether scatter collects keys in lines. The race detector only sees writes of Go, so
// nothing is collected under it.
func scatterCombines() bool { return (useAVX512 || useAVX2) && !raceEnabled }

func scatter(b *Buckets, keys []uint64) (done int) {
	switch {
	case !scatterCombines():
		return scatterGeneric(b, keys)
	case useAVX512:
		return scatterAVX512(b, keys, uint64(len(b.Dst))+b.Skew)
	}
	return scatterAVX2(b, keys, uint64(len(b.Dst))+b.Skew)
}

// scatterAVX512 is scatterGeneric with lines; limit is the end of Dst, plus Skew.
//
//go:noescape
func scatterAVX512(b *Buckets, keys []uint64, limit uint64) (done int)

//go:noescape
func scatterAVX2(b *Buckets, keys []uint64, limit uint64) (done int)

func scatterFlush(b *Buckets) {
	if scatterCombines() {
		flushLines(b)
		scatterFence()
	}
}

// scatterFence orders non-temporal writes of lines before later writes that other threads may see.
//
//go:noescape
func scatterFence()

// leaves has no AVX2 form: AVX2 has no minimum of 64-bit integers.
func leaves(dst, src []uint64, ends []uint32, start uint32) (done int) {
	if useAVX512 {
		return leavesAVX512(dst, src, ends, start)
	}
	return leavesGeneric(dst, src, ends, start)
}

//go:noescape
func leavesAVX512(dst, src []uint64, ends []uint32, start uint32) (done int)

func join(dst []JoinPair, words []uint64, base uint32, b *JoinBuckets, k uint32) (hits, done int) {
	shift, mask := uint64(b.Shift), uint64(len(b.First)-2)
	switch {
	case useAVX512:
		return joinAVX512(dst, words, base, &b.First[0], &b.Lows[0], shift, mask, b.Lanes, k)
	case useAVX2:
		return joinAVX2(dst, words, base, &b.First[0], &b.Lows[0], shift, mask, b.Lanes, k)
	}
	return joinGeneric(dst, words, base, b, k)
}

//go:noescape
func joinAVX512(dst []JoinPair, words []uint64, base uint32, first, lows *uint32, shift, mask uint64, lanes int,
	k uint32) (hits, done int)

//go:noescape
func joinAVX2(dst []JoinPair, words []uint64, base uint32, first, lows *uint32, shift, mask uint64, lanes int,
	k uint32) (hits, done int)

func scatterHalves(p *HalfPartitions, src []uint64, row uint64) {
	if useAVX512 || useAVX2 {
		scatterHalvesBMI2(p, src, row)
		return
	}
	scatterHalvesGeneric(p, src, row)
}

//go:noescape
func scatterHalvesBMI2(p *HalfPartitions, src []uint64, row uint64)

func filter(dst, words, bitmap []uint64, shift uint64) (n int) {
	if useAVX512 || useAVX2 {
		return filterBMI2(dst, words, bitmap, shift)
	}
	return filterGeneric(dst, words, bitmap, shift)
}

//go:noescape
func filterBMI2(dst, words, bitmap []uint64, shift uint64) (n int)

// nearRows has no AVX2 form: a popcount in four lanes by look-ups takes as long as four of the
// integer units.
func nearRows(dst []uint32, keys []uint64, ends []uint32, start uint32, k int) (n, done int) {
	if useAVX512 {
		return nearRowsAVX512(dst, keys, ends, start, k)
	}
	return nearRowsGeneric(dst, keys, ends, start, k)
}

//go:noescape
func nearRowsAVX512(dst []uint32, keys []uint64, ends []uint32, start uint32, k int) (n, done int)
