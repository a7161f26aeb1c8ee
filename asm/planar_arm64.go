//go:build !purego

package asm

import "unsafe"

// The lines of buckets are left to the processor, which has many independent
// reads of them under way at once.
func planarAhead(p *Planar, probes []PlanarProbe) {}

func planarLocate(runs []PlanarRun, probes []PlanarProbe, p *Planar, first uint64, _ *PlanarProbe, _ *Planar) (found, done int) {
	return planarLocateGeneric(runs, probes, p, first)
}

// planarAsk asks for the line on which each run begins.
func planarAsk(p *Planar, runs []PlanarRun) {
	var starts [planarCall]uint64
	for len(runs) > 0 {
		n := min(len(runs), len(starts))
		for i, r := range runs[:n] {
			starts[i] = r.Start
		}
		prefetchAt(unsafe.Pointer(unsafe.SliceData(p.Low)), unsafe.Sizeof(p.Low[0]), &starts[0], n)
		runs = runs[n:]
	}
}

func planarScan(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar) (hits, done int) {
	if useNEON {
		return planarScanNEON(dst, runs, probes, p)
	}
	return planarScanGeneric(dst, runs, probes, p)
}

//go:noescape
func planarScanNEON(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar) (hits, done int)
