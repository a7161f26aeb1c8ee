//go:build purego || !amd64

package asm

// The kernels of this file have assembly only for amd64. On other architectures, and in a build without assembly, the
// generic form runs.

func seek(s *Seek, k int, w *Window) (prefetched int) { return seekGeneric(s, k, w) }

func scatter(b *Buckets, keys []uint64) (done int) { return scatterGeneric(b, keys) }

func scatterFlush(*Buckets) {}

func leaves(dst, src []uint64, ends []uint32, start uint32) (done int) {
	return leavesGeneric(dst, src, ends, start)
}

func join(dst []JoinPair, words []uint64, base uint32, b *JoinBuckets, k uint32) (hits, done int) {
	return joinGeneric(dst, words, base, b, k)
}

func scatterHalves(p *HalfPartitions, src []uint64, row uint64) { scatterHalvesGeneric(p, src, row) }

func filter(dst, words, bitmap []uint64, shift uint64) (n int) {
	return filterGeneric(dst, words, bitmap, shift)
}

func nearRows(dst []uint32, keys []uint64, ends []uint32, start uint32, k int) (n, done int) {
	return nearRowsGeneric(dst, keys, ends, start, k)
}

func planarLocate(p *PlanarTable, extents []PlanarExtent, probes []PlanarProbe, first uint64, _ *PlanarTable,
	_ []PlanarProbe) (found, done int) {
	return planarLocateGeneric(p, extents, probes, first)
}

// planarPrefetchLines does nothing: the processor itself overlaps many independent reads of the lines.
func planarPrefetchLines(*PlanarTable, []PlanarProbe) {}
