package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

// planarLocateGeneric is the specification of planarLocate.
func planarLocateGeneric(runs []PlanarRun, probes []PlanarProbe, p *Planar) (done int) {
	for i := range probes {
		group := probes[i].Key >> (64 - p.GroupBits)
		if p.Wide(group / 64) {
			return i
		}
		start, end := p.Run(group)
		if start > end || end > p.Keys || end-start > PlanarLongest {
			return i
		}
		runs[i] = PlanarRun{start, end - start}
	}
	return len(probes)
}

// planarScanGeneric is the specification of planarScan: Scan, whose hits number
// their probes from base. It stops before a run that dst has no room for, that is
// too long or that does not lie within the keys.
func planarScanGeneric(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar, base uint64) (hits, done int) {
	for i, r := range runs {
		if r.Start > p.Keys || r.Len > p.Keys-r.Start || r.Len > PlanarLongest || r.Len > uint64(len(dst)-hits) {
			return hits, i
		}
		word, limit := uint16(probes[i].Key), int(probes[i].Limit)
		for k, low := range p.Low[r.Start : r.Start+r.Len] {
			if bits.OnesCount16(low^word) <= limit {
				dst[hits] = PlanarHit{r.Start + uint64(k), base + uint64(i)}
				hits++
			}
		}
	}
	return hits, len(runs)
}

// checkPlanar is the known answer: 100 keys in 64 groups, group g from g*100/64 on
// with every third one less, whose low bits differ from the probe's in rank mod 17
// bits.
func checkPlanar() error {
	const word = 0x7c15
	p := Planar{Groups: make([]uint64, 16), Low: make([]uint16, 100+PlanarPad), Keys: 100, GroupBits: 6}
	for i := range p.Low {
		p.Low[i] = word ^ uint16(1<<(i%17)-1)
	}
	var starts [64]uint64
	for g := range starts {
		starts[g] = uint64(g) * 100 / 64
		if g > 0 && g%3 == 0 {
			starts[g]--
		}
	}
	if !p.SetBlock(0, &starts, 100) {
		return fmt.Errorf("starts %d do not fit", starts)
	}
	probes := []PlanarProbe{{Key: word, Limit: 2}, {Key: 33<<58 | word, Limit: 3}, {Key: 34<<58 | word, Limit: 16}, {Key: 63<<58 | word, Limit: 14}}
	want := []PlanarRun{{0, 1}, {50, 3}, {53, 1}, {97, 3}}
	var runs [4]PlanarRun
	if done := p.Locate(runs[:], probes); done != len(probes) || !slices.Equal(runs[:], want) {
		return fmt.Errorf("located %d after %d probes, want %d", runs, done, want)
	}
	var dst [PlanarLongest]PlanarHit
	hits, done := p.Scan(dst[:], runs[:], probes)
	found := []PlanarHit{{0, 0}, {51, 1}, {52, 1}, {53, 2}, {97, 3}, {98, 3}, {99, 3}}
	if done != len(runs) || !slices.Equal(dst[:hits], found) {
		return fmt.Errorf("scanned %d after %d runs, want %d", dst[:hits], done, found)
	}
	return nil
}
