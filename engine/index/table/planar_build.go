package table

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"sync"

	"ndd/asm"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// A PlanarBuilder packs the keys of a planar table piece by piece, while each is in the
// cache, into the memory in which they were sorted; then it writes the table.
//
//	keys, sorted, in cache --Pack--> low, rest: where the keys lay, or packed by Write
//	                            `--> unary, fences: 0.3 to 0.5 bytes a key
//	Write: unary --> lines, wide; all planes --> sink
//
// Napkin, a key: packing 10 instructions for each of three planes, 8 bytes read from the
// cache and 5 written; the lines 100 for each line, one a key. Memory beside the
// rooms: 2^bucketBits + keys bits of unary, 1/16 bit a key of fences, and the lines.
type PlanarBuilder struct {
	head   planarHead
	unary  *memory.Buffer[uint64]
	fences *memory.Buffer[uint64]

	mu     sync.Mutex
	pieces []planarPiece
}

// NewPlanarBuilder returns a builder of a table of n distinct keys. Its memory is off the heap until
// Free.
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

// Free gives the memory back.
func (b *PlanarBuilder) Free() {
	b.unary.Free()
	b.fences.Free()
}

// Pack packs ascending distinct keys; the first has the given rank. It packs
// them into room, which must be as long as keys, not overlap them, and stay as it is until
// Write; where room is nil, the keys must stay, and Write packs them. Pieces may be packed in any
// order and at the same time. Keys that do not ascend, or are more than there should be, are a
// programmer's error and panic.
func (b *PlanarBuilder) Pack(rank uint64, keys, room []uint64) {
	if len(keys) == 0 {
		return
	}
	if rank > b.head.keys || uint64(len(keys)) > b.head.keys-rank || room != nil && len(room) < len(keys) {
		panic(fmt.Sprintf("table: %d keys from rank %d of %d, room for %d", len(keys), rank, b.head.keys, len(room)))
	}
	p := planarPiece{rank: rank, bucket: keys[0] >> (64 - b.head.bucketBits), keys: len(keys)}
	p.pack(keys, room, b.head.restBits())
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

// Write writes the table, which must be complete, as sections of sink whose names begin with
// prefix. The builder is of no more use then.
func (b *PlanarBuilder) Write(sink store.Sink, prefix string, threads int) error {
	slices.SortFunc(b.pieces, func(p, q planarPiece) int { return cmp.Compare(p.rank, q.rank) })
	at := uint64(0)
	for _, p := range b.pieces {
		if p.rank != at {
			panic(fmt.Sprintf("table: keys from rank %d to %d are missing, or there twice", at, p.rank))
		}
		at += uint64(p.keys)
	}
	if at != b.head.keys {
		panic(fmt.Sprintf("table: %d keys of %d", at, b.head.keys))
	}
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

// writeWords writes little-endian words, some at a time: a sink looks at its context then.
func writeWords(w io.Writer, words []uint64) error {
	for some := range slices.Chunk(words, 1<<13) {
		if _, err := w.Write(store.Bytes64(some)); err != nil {
			return err
		}
	}
	return nil
}

// writePlanar writes the table of keys, which it packs as it writes them: memory beside them is what a
// builder takes.
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

// directory makes the section "lines" from the unary bits, in which every line begins behind a
// known number of zeros: that of the buckets before. A piece tells where its ones begin, so
// threads begin at pieces.
func (b *PlanarBuilder) directory(threads int) *planarDirectory {
	h := &b.head
	d := &planarDirectory{head: h, lines: make([]uint64, h.lineWords())}
	lines := h.lines()
	threads = int(max(1, min(uint64(threads), lines/64)))
	var wait sync.WaitGroup
	for t := range uint64(threads) {
		from, to := lines*t/uint64(threads), lines*(t+1)/uint64(threads)
		wait.Go(func() { b.lines(d, from, to) })
	}
	wait.Wait()
	d.finish()
	return d
}

// lines makes lines [from, to).
func (b *PlanarBuilder) lines(d *planarDirectory, from, to uint64) {
	zeros := from * b.head.perLine
	cursor := b.seek(zeros)
	base := cursor.start(zeros)
	for line := from; line < to; line++ {
		first, from := zeros, cursor
		buckets := b.head.buckets(line)
		zeros += buckets
		past := cursor.start(zeros)
		d.set(line, base, b.unary.Data, first+base, past-base+buckets, func(j uint64) uint64 { return from.start(first + j) })
		base = past
	}
}

// seek returns a cursor not far before the given number of zeros: at the last piece that begins
// behind fewer.
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
	c.before = p.bucket - uint64(bits.OnesCount64(^c.words[c.word]&(1<<(bit%64)-1)))
	return c
}
