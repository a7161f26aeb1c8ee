//go:build purego || !(amd64 || arm64)

package asm

import "unsafe"

// In a build without assembly every kernel is its generic form.

// assembly names the assembly that is compiled into this build: none.
const assembly = ""

// use puts a backend to use, which the machine must serve.
func use(name string) { inUse = name }

func within64(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int) {
	return withinGeneric(dst, xs, base, q, k)
}

func within32(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int) {
	return withinGeneric(dst, xs, base, q, k)
}

func votes(counts *[64]uint64, hashes []uint64) { votesGeneric(counts, hashes) }

func weightedVotes(counts *[64]uint64, hashes []uint64, weights []uint32) bool {
	weightedVotesGeneric(counts, hashes, weights)
	return true
}

// Go has no prefetch without assembly: whoever reads takes the misses.

func prefetchAll(xs unsafe.Pointer, bytes uintptr) {}

func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int) {}

func planarPrefetchLines(*PlanarTable, []PlanarProbe) {}

func planarPrefetchExtents(*PlanarTable, []PlanarExtent) {}

func planarLocate(p *PlanarTable, extents []PlanarExtent, probes []PlanarProbe, first uint64, _ *PlanarTable, _ []PlanarProbe) (found, done int) {
	return planarLocateGeneric(p, extents, probes, first)
}

func planarScan(p *PlanarTable, dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe) (hits, done int) {
	return planarScanGeneric(p, dst, extents, probes)
}

func interpolate(dst []int, keys, sought []uint64) { interpolateGeneric(dst, keys, sought) }

func decode(dst []uint64, half []byte, key uint64, w *Window) bool {
	return decodeGeneric(dst, half, key, w)
}

func decodeBlock([]uint64, int, []byte, uint64, uint64, *Window) (answer int) { return decodeOther }

func seek(s *Seek, k int, w *Window) { seekGeneric(s, k, w) }

func permute(dst, src []uint64, mask uint64, dir direction) { permuteGeneric(dst, src, mask, dir) }

func countDigits(counts, keys []uint64, mask uint64) { countDigitsGeneric(counts, keys, mask) }

func scatter(b *Buckets, keys []uint64) (done int) { return scatterGeneric(b, keys) }

func scatterFlush(*Buckets) {}

func leaves(dst, src []uint64, ends []uint32, from uint32) (done int) {
	return leavesGeneric(dst, src, ends, from)
}

func join(dst []JoinPair, words []uint64, base uint32, b *JoinBuckets, k uint32) (hits, done int) {
	return joinGeneric(dst, words, base, b, k)
}

func scatterKeys(p *KeyPartitions, src []uint64, row uint64) (done, full int) {
	return scatterKeysGeneric(p, src, row)
}

func scatterHalves(p *HalfPartitions, src []uint64, row uint64) { scatterHalvesGeneric(p, src, row) }

func filter(dst, words, bitmap []uint64, shift uint64) (n int) {
	return filterGeneric(dst, words, bitmap, shift)
}

func nearRows(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int) {
	return nearRowsGeneric(dst, keys, ends, from, k)
}
