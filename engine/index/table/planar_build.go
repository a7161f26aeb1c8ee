package table

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"sync"

	"example.org/ndd/asm"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
)

// A PlanarBuilder packs the keys of a planar table in pieces, while each piece is in the cache, and reuses the memory
// of the sorted keys. Then it writes the table.
//
//	keys, sorted, in cache --Pack--> low, rest: in the memory of the keys, or packed by Write
//	                            `--> unary, fences: 0.3 to 0.5 bytes per key
//	Write: unary --> lines, wide; all planes --> sink
//
// Napkin, per key: packing takes 10 instructions for each of three planes, reads 8 bytes from the cache and writes 5.
// A line takes 100 instructions, which is one per key. Memory in addition to the buffers: 2^bucketBits + keys bits of
// unary, 1/16 bit per key of fences, and the lines.
type PlanarBuilder struct {
	head   planarHead
	unary  *memory.Buffer[uint64]
	fences *memory.Buffer[uint64]

	mu     sync.Mutex
	pieces []planarPiece
}

// NewPlanarBuilder returns a builder for a table of distinct keys. Its memory is off the heap until Free.
func NewPlanarBuilder(keys uint64) (*PlanarBuilder, error) {
	if keys > asm.PlanarKeysMax {
		return nil, fmt.Errorf("%d keys: a planar table holds %d", keys, uint64(asm.PlanarKeysMax))
	}
	h := planarHead{keys: keys}
	h.bucketBits, h.perLine = PlanarWidths(keys)
	return newPlanarBuilder(h)
}

func newPlanarBuilder(h planarHead) (b *PlanarBuilder, err error) {
	b = &PlanarBuilder{head: h}
	if b.unary, err = memory.Make[uint64](int(b.head.unaryWords())); err != nil {
		return nil, err
	}
	if b.fences, err = memory.Make[uint64](int(b.head.fences())); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// Free frees the memory.
func (b *PlanarBuilder) Free() {
	b.unary.Free()
	b.fences.Free()
}

// Pack packs ascending distinct keys. The first one has the given rank. Pack writes to buffer, which must have the
// length of keys, must not overlap them, and must not change until Write. If buffer is nil, the keys must not change,
// and Write packs them. Pieces may be packed in any order and concurrently. Pack panics if keys do not ascend or
// there are too many.
func (b *PlanarBuilder) Pack(rank uint64, keys, buffer []uint64) {
	if len(keys) == 0 {
		return
	}
	if rank > b.head.keys || uint64(len(keys)) > b.head.keys-rank || buffer != nil && len(buffer) < len(keys) {
		panic(fmt.Sprintf("table: %d keys from rank %d of %d, room for %d", len(keys), rank, b.head.keys, len(buffer)))
	}
	p := planarPiece{rank: rank, bucket: keys[0] >> (64 - b.head.bucketBits), keys: len(keys)}
	p.pack(keys, buffer, b.head.restBits())
	if !packUnary(b.unary.Data, keys, rank, b.head.bucketBits) {
		panic(fmt.Sprintf("table: keys from rank %d do not ascend", rank))
	}
	for i := -rank & (fenceKeys - 1); i < uint64(len(keys)); i += fenceKeys {
		b.fences.Data[(rank+i)/fenceKeys] = keys[i]
	}
	b.mu.Lock()
	b.pieces = append(b.pieces, p)
	b.mu.Unlock()
}

// Write writes the complete table as sections of sink. Their names begin with prefix. The builder must not be used
// afterwards.
func (b *PlanarBuilder) Write(sink store.Sink, prefix string, threads int) error {
	// Check that the pieces are complete.
	slices.SortFunc(b.pieces, func(p, q planarPiece) int { return cmp.Compare(p.rank, q.rank) })
	rank := uint64(0)
	for _, p := range b.pieces {
		if p.rank != rank {
			panic(fmt.Sprintf("table: keys from rank %d to %d are missing or repeated", rank, p.rank))
		}
		rank += uint64(p.keys)
	}
	if rank != b.head.keys {
		panic(fmt.Sprintf("table: %d keys of %d", rank, b.head.keys))
	}
	// Build the directory, and write the sections in the order of the format.
	d, width := b.directory(threads), b.head.restBits()
	for _, section := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"head", func(w io.Writer) error {
			_, err := w.Write(b.head.append(nil))
			return err
		}},
		{"lines", func(w io.Writer) error { return writeWords(w, d.lines) }},
		{"wide", func(w io.Writer) error { return writeWords(w, d.wide.Words) }},
		{"low", func(w io.Writer) error { return writeLow(w, b.pieces, width) }},
		{"rest", func(w io.Writer) error { return writeRest(w, b.pieces, width) }},
		{"fences", func(w io.Writer) error { return writeWords(w, b.fences.Data) }},
	} {
		sink.Section(prefix + section.name)
		if err := section.write(sink); err != nil {
			return err
		}
	}
	return nil
}

// writeWords writes little-endian words in chunks, so that the sink can check its context.
func writeWords(w io.Writer, words []uint64) error {
	for part := range slices.Chunk(words, 1<<13) {
		if _, err := w.Write(store.Bytes64(part)); err != nil {
			return err
		}
	}
	return nil
}

// writePlanar writes the table of keys. It packs them while it writes, so it needs only the memory of a builder.
func writePlanar(sink store.Sink, prefix string, keys []uint64, threads int) error {
	b, err := NewPlanarBuilder(uint64(len(keys)))
	if err != nil {
		return err
	}
	defer b.Free()
	const pieceKeys = 8192
	for rank := 0; rank < len(keys); rank += pieceKeys {
		if rank > 0 && keys[rank] <= keys[rank-1] {
			panic(fmt.Sprintf("table: key %d does not ascend: %#016x after %#016x", rank, keys[rank], keys[rank-1]))
		}
		b.Pack(uint64(rank), keys[rank:min(rank+pieceKeys, len(keys))], nil)
	}
	return b.Write(sink, prefix, threads)
}

// directory builds the section "lines" from the unary bits. The number of zeros before a line is known: it is the
// number of earlier buckets. A piece knows the position of its first bit, so threads begin at pieces.
func (b *PlanarBuilder) directory(threads int) *planarDirectory {
	h := &b.head
	d := &planarDirectory{head: h, lines: make([]uint64, h.lineWords())}
	lines := h.lines()
	threads = int(max(1, min(uint64(threads), lines/64)))
	var wait sync.WaitGroup
	for t := range uint64(threads) {
		start, end := lines*t/uint64(threads), lines*(t+1)/uint64(threads)
		wait.Go(func() { b.lines(d, start, end) })
	}
	wait.Wait()
	d.finish()
	return d
}

// lines builds the lines [start, end).
func (b *PlanarBuilder) lines(d *planarDirectory, start, end uint64) {
	zeros := start * b.head.perLine
	cursor := b.seek(zeros)
	base := cursor.start(zeros)
	for line := start; line < end; line++ {
		first, c := zeros, cursor
		buckets := b.head.buckets(line)
		zeros += buckets
		stop := cursor.start(zeros)
		d.set(line, base, b.unary.Data, first+base, stop-base+buckets, func(j uint64) uint64 { return c.start(first + j) })
		base = stop
	}
}

// seek returns a cursor shortly before the given number of zeros: at the last piece that begins before it.
func (b *PlanarBuilder) seek(zeros uint64) zeroCursor {
	i, _ := slices.BinarySearchFunc(b.pieces, zeros, func(p planarPiece,
		zeros uint64) int {
		return cmp.Compare(p.bucket, zeros)
	})
	c := zeroCursor{words: b.unary.Data}
	if i == 0 {
		return c
	}
	p := b.pieces[i-1]
	bit := p.bucket + p.rank
	c.word = int(bit / 64)
	c.zeros = p.bucket - uint64(bits.OnesCount64(^c.words[c.word]&(1<<(bit%64)-1)))
	return c
}
