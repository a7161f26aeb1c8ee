package table

import (
	"math/bits"

	"ndd/asm"
)

// planarLines is the lines of a planar table's buckets and its low bits, as the kernels read them
// ([asm.PlanarTable] draws a line). It does not change once it is made, and may be used by many goroutines.
type planarLines struct{ asm.PlanarTable }

// PlanarLines returns how many lines a planar table has, but for the one behind the last.
func PlanarLines(bucketBits uint, perLine uint64) uint64 {
	return (1<<bucketBits + perLine - 1) / perLine
}

// newPlanarLines returns the lines of a table of so many keys.
func newPlanarLines(lines []uint64, low []uint16, keys uint64, bucketBits uint, perLine uint64) planarLines {
	return planarLines{asm.PlanarTable{
		Lines: lines, Low: low, Keys: keys, BucketBits: bucketBits, PerLine: perLine, Inverse: asm.PlanarInverse(perLine),
	}}
}

// line returns the line of a bucket.
func (d *planarLines) line(bucket uint64) uint64 { return bucket / d.PerLine }

// base returns the rank of the first key of a line, or the number of keys for the
// line behind the last.
func (d *planarLines) base(line uint64) uint64 { return d.Lines[lineWords*line] & asm.PlanarKeysMax }

// wide reports whether a line's buckets begin elsewhere.
func (d *planarLines) wide(line uint64) bool { return d.Lines[lineWords*line]&asm.PlanarWide != 0 }

// extent returns where a bucket's extent begins and ends, if its line is not wide; ok is
// false when the line has not that many zeros. Nothing else is checked.
func (d *planarLines) extent(bucket uint64) (start, end uint64, ok bool) {
	line := d.line(bucket)
	n, end, ok := asm.PlanarBucket(d.Lines[lineWords*line:][:lineWords], bucket-line*d.PerLine)
	return end - n, end, ok
}

// bucketOf returns the bucket, counted from the first of the line, that key number i of
// a line lies in that is not wide; ok is false when it has not that many keys.
func (d *planarLines) bucketOf(line, i uint64) (j uint64, ok bool) {
	left := int(i)
	for w, word := range d.Lines[lineWords*line+1:][:lineWords-1] {
		if n := bits.OnesCount64(word); n <= left {
			left -= n
			continue
		}
		for ; left > 0; left-- {
			word &= word - 1
		}
		return uint64(64*w+bits.TrailingZeros64(word)) - i, true
	}
	return 0, false
}
