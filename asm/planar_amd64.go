//go:build !purego

package asm

import "unsafe"

func planarAhead(p *Planar, probes []PlanarProbe) {
	planarAheadAMD64(p, probes)
}

func planarLocate(runs []PlanarRun, probes []PlanarProbe, p *Planar, first uint64, ahead *PlanarProbe, next *Planar) (found, done int) {
	switch {
	case useAVX512:
		return planarLocateAVX512(runs, probes, p, first, ahead, next)
	case useAVX2:
		return planarLocateAVX2(runs, probes, p, first, ahead, next)
	}
	if ahead != nil {
		planarAheadAMD64(next, unsafe.Slice(ahead, len(probes)))
	}
	return planarLocateGeneric(runs, probes, p, first)
}

func planarAsk(p *Planar, runs []PlanarRun) {
	planarAskAMD64(p, runs)
}

func planarScan(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar) (hits, done int) {
	switch {
	case useAVX512:
		return planarScanAVX512(dst, runs, probes, p)
	case useAVX2:
		return planarScanAVX2(dst, runs, probes, p)
	}
	return planarScanGeneric(dst, runs, probes, p)
}

//go:noescape
func planarAheadAMD64(p *Planar, probes []PlanarProbe)

//go:noescape
func planarAskAMD64(p *Planar, runs []PlanarRun)

//go:noescape
func planarLocateAVX512(runs []PlanarRun, probes []PlanarProbe, p *Planar, first uint64, ahead *PlanarProbe, next *Planar) (found, done int)

//go:noescape
func planarLocateAVX2(runs []PlanarRun, probes []PlanarProbe, p *Planar, first uint64, ahead *PlanarProbe, next *Planar) (found, done int)

//go:noescape
func planarScanAVX512(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar) (hits, done int)

//go:noescape
func planarScanAVX2(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar) (hits, done int)
