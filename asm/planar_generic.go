package asm

import "math/bits"

// PlanarBucket looks up a bucket in its line of 8 words, which must not be wide. Bucket number j of the line has n
// keys and ends at rank end. ok is false if the line has too few zeros. Nothing else is checked.
func PlanarBucket(line []uint64, j uint64) (n, end uint64, ok bool) {
	line = line[:8]
	remaining := int(j) // number of zeros to skip
	for i := uint64(1); i < 8; i++ {
		zeros := ^line[i]
		if n := bits.OnesCount64(zeros); n <= remaining {
			remaining -= n
			continue
		}
		position := 64*i + uint64(SelectBit(zeros, remaining))
		return onesBefore(line, position), line[0]&PlanarKeysMax + position - 64 - j, true
	}
	return 0, 0, false
}

// SelectBit returns the position of set bit number n, counted from 0. The word must have more than n set bits. It has
// no branch that depends on the word: the bit counts of the bytes give the byte of the bit, and three halvings its
// position in it.
func SelectBit(word uint64, n int) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	sums := word - word>>1&0x5555555555555555
	sums = sums&0x3333333333333333 + sums>>2&0x3333333333333333
	sums = (sums + sums>>4) & 0x0f0f0f0f0f0f0f0f * each                 // bit counts of each byte and the bytes below it
	position := 8 * bits.OnesCount64(((uint64(n)*each|high)-sums)&high) // number of bytes with sums up to n
	n -= int(sums << 8 >> position & 0xff)
	for half := 4; half > 0; half /= 2 {
		counts := bits.OnesCount64(word >> position & (1<<half - 1))
		carry := (counts - 1 - n) >> (bits.UintSize - 1) // all ones if the bit is not in the lower half
		position += half & carry
		n -= counts & carry
	}
	return position
}

// onesBefore returns the number of consecutive ones immediately before a position of a line, without its first word.
func onesBefore(line []uint64, position uint64) (n uint64) {
	for position > 64 {
		word, bit := line[(position-1)/64], (position-1)%64 // the bits of word from bit down precede position
		ones := uint64(bits.LeadingZeros64(^(word << (63 - bit))))
		if ones <= bit {
			return n + ones
		}
		n += bit + 1
		position -= bit + 1
	}
	return n
}

// planarLocateGeneric is the specification of PlanarLocate. Its extents number the probes from first.
func planarLocateGeneric(p *PlanarTable, extents []PlanarExtent, probes []PlanarProbe, first uint64) (found, done int) {
	for i := range probes {
		bucket := probes[i].Key >> (64 - p.BucketBits)
		number := bucket / p.PerLine
		line := p.Lines[8*number:][:8]
		if line[0] > PlanarKeysMax {
			return found, i // wide, or damaged
		}
		n, end, ok := PlanarBucket(line, bucket-number*p.PerLine)
		if !ok || end > p.Keys || n > PlanarBucketMax {
			return found, i
		}
		if n > 0 {
			extents[found] = PlanarExtent{end - n, uint32(n), uint32(first) + uint32(i)}
			found++
		}
	}
	return found, len(probes)
}

// planarScanGeneric is the specification of PlanarScan. It stops before an extent that has no space in dst, is too
// long, is not within the keys, or has no probe.
func planarScanGeneric(p *PlanarTable, dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe) (hits, done int) {
	for i, r := range extents {
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
	return hits, len(extents)
}
