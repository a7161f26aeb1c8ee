//go:build purego || !(amd64 || arm64)

package asm

func planarAhead(p *Planar, probes []PlanarProbe) {}

func planarLocate(runs []PlanarRun, probes []PlanarProbe, p *Planar, first uint64, _ *PlanarProbe, _ *Planar) (found, done int) {
	return planarLocateGeneric(runs, probes, p, first)
}

func planarAsk(p *Planar, runs []PlanarRun) {}

func planarScan(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar) (hits, done int) {
	return planarScanGeneric(dst, runs, probes, p)
}
