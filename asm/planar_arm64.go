//go:build !purego

package asm

import "unsafe"

// The directory's lines are left to the processor, which has many independent
// reads of it under way at once.
func planarAhead(p *Planar, probes []PlanarProbe) {}

// planarLocate asks for the line on which each run begins. A list of runs is also a
// list of indexes, every second of which is a length: a small index, whose line
// stays in cache.
func planarLocate(runs []PlanarRun, probes []PlanarProbe, p *Planar) (done int) {
	done = planarLocateGeneric(runs, probes, p)
	if done > 0 {
		prefetchAt(unsafe.Pointer(unsafe.SliceData(p.Low)), unsafe.Sizeof(p.Low[0]), &runs[0].Start, 2*done)
	}
	return done
}

func planarScan(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar, base uint64) (hits, done int) {
	if useNEON {
		return planarScanNEON(dst, runs, probes, p, base)
	}
	return planarScanGeneric(dst, runs, probes, p, base)
}

//go:noescape
func planarScanNEON(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar, base uint64) (hits, done int)
