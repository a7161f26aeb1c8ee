package table

import (
	"math/bits"
	"sort"

	"example.org/ndd/asm"
)

// planarLines has the lines of buckets and the low bits of a planar table, in the form of the kernels
// ([asm.PlanarTable] has a drawing). It is immutable and safe for concurrent use.
type planarLines struct{ asm.PlanarTable }

// PlanarLines returns the number of lines of a planar table, without the sentinel line at the end.
func PlanarLines(bucketBits uint, perLine uint64) uint64 {
	return (1<<bucketBits + perLine - 1) / perLine
}

// newPlanarLines returns the lines of a table with that many keys.
func newPlanarLines(lines []uint64, low []uint16, keys uint64, bucketBits uint, perLine uint64) planarLines {
	return planarLines{asm.PlanarTable{
		Lines: lines, Low: low, Keys: keys, BucketBits: bucketBits, PerLine: perLine, Inverse: asm.PlanarInverse(perLine),
	}}
}

// line returns the line of a bucket.
func (d *planarLines) line(bucket uint64) uint64 { return bucket / d.PerLine }

// base returns the rank of the first key of a line, or the number of keys for the sentinel line.
func (d *planarLines) base(line uint64) uint64 { return d.Lines[lineWords*line] & asm.PlanarKeysMax }

// wide reports whether the starts of a line's buckets are in the section "wide".
func (d *planarLines) wide(line uint64) bool { return d.Lines[lineWords*line]&asm.PlanarWide != 0 }

// extent returns the start and end of a bucket in a line that is not wide. ok is false if the line has too few zeros.
// Nothing else is checked.
func (d *planarLines) extent(bucket uint64) (start, end uint64, ok bool) {
	line := d.line(bucket)
	n, end, ok := asm.PlanarBucket(d.Lines[lineWords*line:][:lineWords], bucket-line*d.PerLine)
	return end - n, end, ok
}

// bucketOf returns the bucket of key number i of a line that is not wide, counted from the first bucket of the line.
// ok is false if the line has too few keys.
func (d *planarLines) bucketOf(line, i uint64) (j uint64, ok bool) {
	remaining := int(i)
	for w, word := range d.Lines[lineWords*line+1:][:lineWords-1] {
		if n := bits.OnesCount64(word); n <= remaining {
			remaining -= n
			continue
		}
		return uint64(64*w+asm.SelectBit(word, remaining)) - i, true
	}
	return 0, false
}

// bucket returns the start and end of a bucket.
func (t *planarTable) bucket(bucket uint64) (start, end uint64, err error) {
	d := &t.directory
	line := d.line(bucket)
	ok := d.Lines[lineWords*line]>>41 == 0
	if ok && d.wide(line) {
		first, err := t.wideStart(line)
		if err != nil {
			return 0, 0, err
		}
		j := bucket - line*d.PerLine
		start, end = d.base(line)+t.wide.At(first+j), d.base(line+1)
		if j < d.PerLine-1 {
			end = d.base(line) + t.wide.At(first+j+1)
		}
	} else if ok {
		start, end, ok = d.extent(bucket)
	}
	if !ok || start > end || end > d.Keys {
		return 0, 0, t.corruptLine(line, "bucket %d has ranks %d to %d of %d keys", bucket, start, end, d.Keys)
	}
	return start, end, nil
}

// corruptLine returns an error about a line of buckets.
func (t *planarTable) corruptLine(line uint64, reason string, args ...any) error {
	return t.in.lines.Corrupt(8*lineWords*line, reason, args...)
}

// wideStart returns the index in wide of the first offset of a wide line.
func (t *planarTable) wideStart(line uint64) (uint64, error) {
	number := t.directory.Lines[lineWords*line+1]
	if number >= t.wideLines {
		return 0, t.corruptLine(line, "line %d of buckets is wide line %d of %d", line, number, t.wideLines)
	}
	return number * t.directory.PerLine, nil
}

// narrow reduces ranks [start, end) to those whose keys may be in low to high, by the fences.
func (t *planarTable) narrow(start, end, low, high uint64) (uint64, uint64) {
	if end-start < 2*fenceKeys {
		return start, end
	}
	fence := start/fenceKeys + 1
	fences := t.fences[fence : (end-1)/fenceKeys+1]
	first := uint64(sort.Search(len(fences), func(i int) bool { return fences[i] >= low }))
	stop := uint64(sort.Search(len(fences), func(i int) bool { return fences[i] > high }))
	if stop < uint64(len(fences)) {
		end = (fence + stop) * fenceKeys
	}
	if first > 0 {
		start = (fence + first - 1) * fenceKeys
	}
	return start, max(start, end)
}

// lowBits returns the bits of a key without its bucket.
func (t *planarTable) lowBits(rank uint64) uint64 {
	return t.rest.At(rank)<<lowBits | uint64(t.directory.Low[rank])
}

// key returns the key at rank. It must be in one of the lines first to last.
func (t *planarTable) key(rank, first, last uint64) (uint64, error) {
	d := &t.directory
	for first < last {
		if middle := (first + last + 1) / 2; d.base(middle) <= rank {
			first = middle
		} else {
			last = middle - 1
		}
	}
	i, j, ok := rank-d.base(first), uint64(0), rank >= d.base(first)
	if ok && d.wide(first) {
		offset, err := t.wideStart(first)
		if err != nil {
			return 0, err
		}
		j = uint64(sort.Search(int(d.PerLine), func(j int) bool { return t.wide.At(offset+uint64(j)) > i })) - 1
	} else if ok {
		j, ok = d.bucketOf(first, i)
	}
	bucket := first*d.PerLine + j
	if !ok || j >= d.PerLine || bucket>>d.BucketBits != 0 {
		return 0, t.corruptLine(first, "the key of rank %d is in no bucket of line %d", rank, first)
	}
	return bucket<<(64-d.BucketBits) | t.lowBits(rank), nil
}
