//go:build !purego

package asm

func planarAhead(p *Planar, probes []PlanarProbe) {
	planarAheadAMD64(p, probes)
}

func planarLocate(runs []PlanarRun, probes []PlanarProbe, p *Planar) (done int) {
	if useAVX512 || useAVX2 {
		return planarLocateAMD64(runs, probes, p)
	}
	return planarLocateGeneric(runs, probes, p)
}

func planarScan(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar, base uint64) (hits, done int) {
	switch {
	case useAVX512:
		return planarScanAVX512(dst, runs, probes, p, base)
	case useAVX2:
		return planarScanAVX2(dst, runs, probes, p, base)
	}
	return planarScanGeneric(dst, runs, probes, p, base)
}

//go:noescape
func planarAheadAMD64(p *Planar, probes []PlanarProbe)

//go:noescape
func planarLocateAMD64(runs []PlanarRun, probes []PlanarProbe, p *Planar) (done int)

//go:noescape
func planarScanAVX512(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar, base uint64) (hits, done int)

//go:noescape
func planarScanAVX2(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar, base uint64) (hits, done int)
