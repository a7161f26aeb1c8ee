//go:build purego || !(amd64 || arm64)

package asm

import "unsafe"

// In a build without assembly every kernel is generic. This file has the kernels with assembly for amd64 and arm64;
// dispatch_generic.go has the others.

// assembly names the architecture of the assembly in this build: none.
const assembly = ""

// use selects a backend, which the machine must support.
func use(name string) { inUse = name }

func within64(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int) {
	return withinGeneric(dst, xs, base, q, k)
}

func within32(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int) {
	return withinGeneric(dst, xs, base, q, k)
}

func differ(dst []uint32, query, lines []uint64, rows []uint32) {
	differGeneric(dst, query, lines, rows)
}

func weightedVotes(counts *[64]uint64, hashes []uint64, weights []uint32) bool {
	weightedVotesGeneric(counts, hashes, weights)
	return true
}

// Go has no prefetch without assembly: the reader takes the misses.

func prefetchAll(xs unsafe.Pointer, bytes uintptr) {}

func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int) {}

func planarPrefetchExtents(*PlanarTable, []PlanarExtent) {}

func planarScan(p *PlanarTable, dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe) (hits, done int) {
	return planarScanGeneric(p, dst, extents, probes)
}

func interpolate(dst []int, keys, targets []uint64) { interpolateGeneric(dst, keys, targets) }

func decode(dst []uint64, half []byte, key uint64, w *Window) bool {
	return decodeGeneric(dst, half, key, w)
}

func permute(dst, src []uint64, mask uint64, dir direction) { permuteGeneric(dst, src, mask, dir) }
