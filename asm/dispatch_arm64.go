//go:build !purego

package asm

import "unsafe"

// This file selects the code of each kernel on arm64, and declares it; see dispatch_amd64.go. The kernels without a
// NEON form are in dispatch_generic.go.

// assembly names the architecture of the assembly in this build.
const assembly = "arm64"

// useNEON is false when the generic backend is in use.
var useNEON bool

// use selects a backend, which the machine must support.
func use(name string) {
	inUse, useNEON = name, name == NEON
}

func within64(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int) {
	if useNEON {
		return within64NEON(dst, xs, base, q, k)
	}
	return withinGeneric(dst, xs, base, q, k)
}

//go:noescape
func within64NEON(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int)

func within32(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int) {
	if useNEON {
		return within32NEON(dst, xs, base, q, k)
	}
	return withinGeneric(dst, xs, base, q, k)
}

//go:noescape
func within32NEON(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)

func differ(dst []uint32, query, lines []uint64, rows []uint32) {
	if useNEON {
		differNEON(dst, query, lines, rows)
		return
	}
	differGeneric(dst, query, lines, rows)
}

//go:noescape
func differNEON(dst []uint32, query, lines []uint64, rows []uint32)

func weightedVotes(counts *[64]uint64, hashes []uint64, weights []uint32) bool {
	if useNEON {
		return weightedVotesNEON(counts, hashes, weights)
	}
	weightedVotesGeneric(counts, hashes, weights)
	return true
}

//go:noescape
func weightedVotesNEON(counts *[64]uint64, hashes []uint64, weights []uint32) bool

//go:noescape
func prefetchAll(xs unsafe.Pointer, bytes uintptr)

//go:noescape
func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int)

// planarPrefetchExtents prefetches the first line of each extent.
func planarPrefetchExtents(p *PlanarTable, extents []PlanarExtent) {
	var starts [planarCall]uint64
	for len(extents) > 0 {
		n := min(len(extents), len(starts))
		for i, r := range extents[:n] {
			starts[i] = r.Start
		}
		prefetchAt(unsafe.Pointer(unsafe.SliceData(p.Low)), unsafe.Sizeof(p.Low[0]), &starts[0], n)
		extents = extents[n:]
	}
}

func planarScan(p *PlanarTable, dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe) (hits, done int) {
	if useNEON {
		return planarScanNEON(dst, extents, probes, p)
	}
	return planarScanGeneric(p, dst, extents, probes)
}

//go:noescape
func planarScanNEON(dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe, p *PlanarTable) (hits, done int)

func interpolate(dst []int, keys, targets []uint64) {
	if useNEON {
		interpolateNEON(&dst[0], &keys[0], len(keys), &targets[0], len(targets))
		return
	}
	interpolateGeneric(dst, keys, targets)
}

// interpolateNEON searches 1 to searchWidth keys. There must be at least 1 key to search in.
//
//go:noescape
func interpolateNEON(dst *int, keys *uint64, n int, targets *uint64, m int)

// decodeServed reports whether the backend in use has decodeKeys.
func decodeServed() bool { return useNEON }

func decodeKeys(dst []uint64, half []byte, w *Window, c *cursor) (answer int) {
	return decodeNEON(&dst[0], len(dst), &half[0], len(half), w, c)
}

// decodeNEON is like decodeAVX512 (dispatch_amd64.go), and moves the cursor for every n.
//
//go:noescape
func decodeNEON(dst *uint64, n int, half *byte, halfBytes int, w *Window, c *cursor) int
