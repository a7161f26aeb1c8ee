package asm

// scatterGeneric is the specification of scatter, without lines, because plain Go is slower with lines. It stops
// before a key that has no bucket or no space. A kernel with lines may stop some keys later.
func scatterGeneric(b *Buckets, keys []uint64) (done int) {
	for i, key := range keys {
		d := (key - b.Low) >> (b.Shift & 63)
		if d >= uint64(len(b.Next)) {
			return i
		}
		position := b.Next[d]
		if position-b.Skew >= uint64(len(b.Dst)) {
			return i
		}
		b.Dst[position-b.Skew] = key
		b.Next[d] = position + 1
	}
	return len(keys)
}

// flushLines writes the rest of the lines of a kernel with lines.
func flushLines(b *Buckets) {
	for d, end := range b.Next {
		for position := max(end&^(LineKeys-1), b.First[d]); position < end; position++ {
			b.Dst[position-b.Skew] = b.Lines[LineKeys*uint64(d)+position%LineKeys]
		}
	}
}
