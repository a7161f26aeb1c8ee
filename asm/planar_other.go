//go:build purego || !(amd64 || arm64)

package asm

func planarAhead(p *Planar, probes []PlanarProbe) {}

func planarLocate(runs []PlanarRun, probes []PlanarProbe, p *Planar) (done int) {
	return planarLocateGeneric(runs, probes, p)
}

func planarScan(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar, base uint64) (hits, done int) {
	return planarScanGeneric(dst, runs, probes, p, base)
}
