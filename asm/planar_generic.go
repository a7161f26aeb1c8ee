package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

// planarLocateGeneric is the specification of planarLocate: Locate, whose runs
// number their probes from first.
func planarLocateGeneric(runs []PlanarRun, probes []PlanarProbe, p *Planar, first uint64) (found, done int) {
	for i := range probes {
		bucket := probes[i].Key >> (64 - p.BucketBits)
		if p.Lines[8*p.Line(bucket)] > PlanarKeysMax {
			return found, i // wide, or a lie
		}
		start, end, ok := p.Run(bucket)
		if !ok || end > p.Keys || end-start > PlanarBucketMax {
			return found, i
		}
		if start < end {
			runs[found] = PlanarRun{start, uint32(end - start), uint32(first) + uint32(i)}
			found++
		}
	}
	return found, len(probes)
}

// planarScanGeneric is the specification of planarScan: it stops before a run
// that dst has no room for, that is too long, that does not lie within the keys, or
// that is of no probe.
func planarScanGeneric(dst []PlanarHit, runs []PlanarRun, probes []PlanarProbe, p *Planar) (hits, done int) {
	for i, r := range runs {
		if r.Start > p.Keys || uint64(r.Len) > p.Keys-r.Start || r.Len > PlanarLongest || int(r.Len) > len(dst)-hits ||
			uint64(r.Probe) >= uint64(len(probes)) {
			return hits, i
		}
		word, limit := uint16(probes[r.Probe].Key), int(probes[r.Probe].Limit)
		for k, low := range p.Low[r.Start : r.Start+uint64(r.Len)] {
			if bits.OnesCount16(low^word) <= limit {
				dst[hits] = PlanarHit{r.Start + uint64(k), uint64(r.Probe)}
				hits++
			}
		}
	}
	return hits, len(runs)
}

// checkPlanar is the known answer: 100 keys in 64 buckets of 48 a line, key i in bucket
// i*64/100, whose low bits are i mod 17 ones more than the probe's.
func checkPlanar() error {
	const word = 0x7c15
	var keys [100]uint64
	low := make([]uint16, len(keys)+PlanarPad)
	for i := range keys {
		low[i] = word ^ uint16(1<<(i%17)-1)
		keys[i] = uint64(i*64/100)<<58 | uint64(low[i])
	}
	p := NewPlanar(make([]uint64, 24), low, uint64(len(keys)), 6, 48)
	if !p.SetLine(0, 0, keys[:75]) || !p.SetLine(1, 75, keys[75:]) {
		return fmt.Errorf("keys do not fit their lines")
	}
	p.Lines[16] = p.Keys
	probes := []PlanarProbe{{Key: word, Limit: 2}, {Key: 33<<58 | word, Limit: 2}, {Key: 48<<58 | word, Limit: 8}, {Key: 63<<58 | word, Limit: 14}}
	want := []PlanarRun{{0, 2, 0}, {52, 2, 1}, {75, 2, 2}, {99, 1, 3}}
	var runs [4]PlanarRun
	p.Ahead(probes)
	if n, done := p.Locate(runs[:], probes, 0); n != len(want) || done != len(probes) || !slices.Equal(runs[:], want) {
		return fmt.Errorf("located %d, %d after %d probes, want %d", runs, n, done, want)
	}
	var dst [PlanarLongest]PlanarHit
	hits, done := p.Scan(dst[:], runs[:], probes)
	found := []PlanarHit{{0, 0}, {1, 0}, {52, 1}, {53, 1}, {75, 2}, {76, 2}, {99, 3}}
	if done != len(runs) || !slices.Equal(dst[:hits], found) {
		return fmt.Errorf("scanned %d after %d runs, want %d", dst[:hits], done, found)
	}
	return nil
}
