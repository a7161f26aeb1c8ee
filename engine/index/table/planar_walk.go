package table

import (
	"math/bits"

	"example.org/ndd/asm"
)

// rank returns the rank of a key, or NoRank.
func (t *planarTable) rank(key uint64) (uint64, error) {
	start, end, err := t.bucket(key >> (64 - t.directory.BucketBits))
	if err != nil {
		return 0, err
	}
	start, end = t.narrow(start, end, key, key)
	tail := ^uint64(0) >> t.directory.BucketBits
	for i, low := range t.directory.Low[start:end] {
		if rank := start + uint64(i); low == uint16(key) && t.lowBits(rank) == key&tail {
			return rank, nil
		}
	}
	return NoRank, nil
}

// sortedRanks prefetches the data of all keys before it searches the first one.
func (t *planarTable) sortedRanks(ranks, keys []uint64, c *Scratch) error {
	if len(keys) >= prefetchMin {
		copy(ranks, keys)
		t.prefetchRanks(ranks, c)
	}
	for i, key := range keys {
		var err error
		if ranks[i], err = t.rank(key); err != nil {
			return err
		}
	}
	return nil
}

// prefetchMin is the number of keys from which prefetching is faster.
const prefetchMin = 8

// prefetchRanks finds the buckets of keys and prefetches them. Each bucket has one key or a few.
func (t *planarTable) prefetchRanks(keys []uint64, c *Scratch) {
	if c.planar == nil {
		c.planar = new(planarScratch)
	}
	for len(keys) > 0 {
		n := min(len(keys), rangeMax)
		probes := c.planar.probes[:n]
		for i, key := range keys[:n] {
			probes[i].Key = key
		}
		asm.PlanarPrefetchLines(&t.directory.PlanarTable, probes)
		lines := c.planar.lines[:n]
		for i, key := range keys[:n] {
			start, _, err := t.bucket(key >> (64 - t.directory.BucketBits))
			if err != nil { // rank reports the error
				start = 0 // rank reports the error
			}
			keys[i], lines[i] = start, start*uint64(t.rest.Width)/64
		}
		asm.PrefetchAt(t.directory.Low, keys[:n])
		asm.PrefetchAt(t.rest.Words, lines)
		keys = keys[n:]
	}
}

// WalkPart reads all planes in parallel, and compares them with the lines and the fences. Parts begin and end with
// lines.
func (t *planarTable) WalkPart(start, end, parts uint64, yield func(uint64, []uint64) bool) error {
	// Find the lines of the part, and the rank of their first key.
	d := &t.directory
	lines := PlanarLines(d.BucketBits, d.PerLine)
	first, stop := share(lines, start, parts), share(lines, end, parts)
	w := planarWalk{t: t, yield: yield, buffer: make([]uint64, 0, fenceKeys), rank: d.base(first)}
	if w.rank > t.Len() {
		return t.corruptLine(first, "line %d of buckets begins at rank %d of %d", first, w.rank, t.Len())
	}
	wide, checkFirst := uint64(0), first == 0
	// Walk line by line, and check that each begins at the rank where the previous one ended.
	for line := first; line < stop; line++ {
		words := d.Lines[lineWords*line:][:lineWords]
		buckets := min(d.PerLine, 1<<d.BucketBits-line*d.PerLine)
		if words[0]>>41 != 0 || d.base(line) != w.rank {
			return t.corruptLine(line, "line %d of buckets begins with %#x, at rank %d", line, words[0], w.rank)
		}
		var err error
		if d.wide(line) {
			if !checkFirst { // number of wide lines before the part
				wide, checkFirst = words[1], true
			}
			if [lineWords - 1]uint64(words[1:]) != [lineWords - 1]uint64{wide} || wide >= t.wideLines {
				return t.corruptLine(line, "line %d of buckets is not wide line %d of %d", line, wide, t.wideLines)
			}
			err = w.wideLine(line, wide, buckets)
			wide++
		} else {
			err = w.line(line, buckets, words[1:])
		}
		if err != nil || w.stopped {
			return err
		}
	}
	// The totals must agree with the head.
	if w.rank != d.base(stop) || stop == lines && checkFirst && wide != t.wideLines {
		return t.in.head.Corrupt(0, "%d keys and %d wide lines in the lines, %d and %d by the head", w.rank, wide,
			d.base(stop), t.wideLines)
	}
	w.flush()
	return nil
}

// PartWith returns the lines of the buckets from low to high.
func (t *planarTable) PartWith(low, high uint64) (start, end, parts uint64) {
	d := &t.directory
	shift := 64 - d.BucketBits
	return d.line(low >> shift), d.line(high>>shift) + 1, PlanarLines(d.BucketBits, d.PerLine)
}

// planarWalk is the state of a walk.
type planarWalk struct {
	t              *planarTable
	yield          func(rank uint64, keys []uint64) bool
	buffer         []uint64 // keys to yield, all since the last fence
	positions      [asm.PlanarLineBits]uint16
	rank, previous uint64
	stopped        bool
}

// line walks a line that is not wide. The line has one zero for each bucket, and more zeros after the last bucket. A
// corrupt line may have ones after its last bucket; keys reports them.
func (w *planarWalk) line(line, buckets uint64, words []uint64) error {
	n := uint64(0)
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			w.positions[n] = uint16(uint64(64*i+bits.TrailingZeros64(word)) - n)
			n++
		}
	}
	if n+buckets > asm.PlanarLineBits {
		return w.t.corruptLine(line, "line %d of buckets has %d keys", line, n)
	}
	return w.keys(line, buckets, w.positions[:n])
}

// wideLine walks a wide line by its offsets.
func (w *planarWalk) wideLine(line, number, buckets uint64) error {
	t, base := w.t, w.rank
	stop := t.directory.base(line + 1)
	for j := range t.directory.PerLine {
		if start := t.wide.At(number*t.directory.PerLine + j); start != w.rank-base {
			return t.in.wide.Corrupt((number*t.directory.PerLine+j)*uint64(t.wide.Width)/8,
				"bucket %d of line %d begins at offset %d; the one before ends at %d", j, line, start, w.rank-base)
		}
		end := stop
		if j < t.directory.PerLine-1 {
			end = base + t.wide.At(number*t.directory.PerLine+j+1)
		}
		if end > t.Len() {
			continue // the next bucket, or the next line, reports the error
		}
		for i := range w.positions[:min(max(end, w.rank)-w.rank, uint64(len(w.positions)))] {
			w.positions[i] = uint16(j)
		}
		for w.rank < end {
			if err := w.keys(line, buckets, w.positions[:min(end-w.rank, uint64(len(w.positions)))]); err != nil || w.stopped {
				return err
			}
		}
	}
	return nil
}

// keys adds the next keys. positions are their buckets in the line.
func (w *planarWalk) keys(line, buckets uint64, positions []uint16) error {
	t := w.t
	if remaining := t.Len() - w.rank; uint64(len(positions)) > remaining {
		return t.corruptLine(line, "line %d of buckets has %d keys or more, where %d of %d are left", line, len(positions),
			remaining, t.Len())
	}
	shift, first := 64-t.directory.BucketBits, line*t.directory.PerLine
	low := t.directory.Low[w.rank:][:len(positions)]
	for i, position := range positions {
		if uint64(position) >= buckets {
			return t.corruptLine(line, "rank %d of %d keys is in bucket %d of line %d", w.rank, t.Len(), position, line)
		}
		key := (first+uint64(position))<<shift | t.rest.At(w.rank)<<lowBits | uint64(low[i])
		if key <= w.previous && w.rank > 0 {
			return t.in.low.Corrupt(2*w.rank, "key %d does not ascend", w.rank)
		}
		if w.rank%fenceKeys == 0 && t.fences[w.rank/fenceKeys] != key {
			return t.in.fences.Corrupt(w.rank/fenceKeys*8, "the fence of key %d is another key", w.rank)
		}
		w.previous = key
		w.rank++
		if w.buffer = append(w.buffer, key); w.rank%fenceKeys == 0 && w.flush() {
			return nil
		}
	}
	return nil
}

// flush yields the remaining keys, and reports whether to stop.
func (w *planarWalk) flush() (stopped bool) {
	if n := len(w.buffer); n > 0 {
		w.stopped = !w.yield(w.rank-uint64(n), w.buffer)
		w.buffer = w.buffer[:0]
	}
	return w.stopped
}
