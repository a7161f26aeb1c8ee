package table

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"example.org/ndd/engine/parallel"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/huffman"
)

// pieceKeys is the number of keys per piece. Each piece begins a new block, so that pieces can be packed in parallel
// and the table does not depend on the number of threads. This leaves half a block in 5,000 empty.
const pieceKeys = 1 << 20

// writeHuffman packs pieces in parallel, one per thread, and writes them in order.
//
//	keys --Count, piece by piece--> code
//	pieces --AppendBlock--> blocks, last, ranks --in order--> sink, then last and ranks
//
// Napkin: 8 ns per key and thread. Memory in addition to the keys: 6 bytes for each key of the active pieces, and 17
// for each block.
func writeHuffman(sink store.Sink, prefix string, keys []uint64, o Options) error {
	if o.BlockBytes == 0 {
		o.BlockBytes = huffman.BlockBytesDefault
	}
	if o.BlockBytes < huffman.BlockBytesMin || o.BlockBytes > huffman.BlockBytesMax {
		return fmt.Errorf("blocks of %d bytes: %d to %d are possible", o.BlockBytes, huffman.BlockBytesMin,
			huffman.BlockBytesMax)
	}
	w := &huffmanWriter{keys: keys, blockBytes: o.BlockBytes, threads: o.Threads}
	w.count()
	if err := w.head(sink, prefix); err != nil {
		return err
	}
	if err := w.blocks(sink, prefix); err != nil {
		return err
	}
	if err := store.WriteSection(sink, prefix+"last", store.Bytes64(w.last)); err != nil {
		return err
	}
	return store.WriteSection(sink, prefix+"ranks", store.Bytes64(w.ranks))
}

// huffmanWriter writes one table.
type huffmanWriter struct {
	keys       []uint64
	blockBytes int
	threads    int
	code       *huffman.Code
	last       []uint64
	ranks      []uint64
}

// A huffmanPiece is a part of the keys with its packed form.
type huffmanPiece struct {
	keys   []uint64 // after the last key of the previous piece
	counts [huffman.Positions]uint64
	blocks []byte
	last   []uint64 // last key of each block
	sizes  []int    // number of keys in each block
}

// count builds the code.
func (w *huffmanWriter) count() {
	var counts [huffman.Positions]uint64
	w.inOrder(func(p *huffmanPiece) {
		clear(p.counts[:])
		huffman.Count(&p.counts, p.keys)
	}, func(p *huffmanPiece) error {
		for h, n := range p.counts {
			counts[h] += n
		}
		return nil
	})
	w.code = huffman.NewCode(&counts)
}

func (w *huffmanWriter) head(sink store.Sink, prefix string) error {
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(w.keys)))
	head = binary.LittleEndian.AppendUint64(head, uint64(w.blockBytes))
	first := uint64(0)
	if len(w.keys) > 0 {
		first = w.keys[0]
	}
	head = binary.LittleEndian.AppendUint64(head, first)
	lengths := w.code.Lengths()
	return store.WriteSection(sink, prefix+"head", append(head, lengths[:]...))
}

func (w *huffmanWriter) blocks(sink store.Sink, prefix string) error {
	sink.Section(prefix + "blocks")
	rank := uint64(0)
	return w.inOrder(func(p *huffmanPiece) {
		p.blocks, p.last, p.sizes = p.blocks[:0], p.last[:0], p.sizes[:0]
		for remaining, n := p.keys, 0; len(remaining) > 1; remaining = remaining[n:] {
			p.blocks, n = huffman.AppendBlock(p.blocks, w.code, remaining, w.blockBytes)
			p.last, p.sizes = append(p.last, remaining[n]), append(p.sizes, n)
		}
	}, func(p *huffmanPiece) error {
		for i, n := range p.sizes {
			if len(w.last)%blocksPerRank == 0 {
				w.ranks = append(w.ranks, rank)
			}
			if len(w.last) == 0 {
				rank++ // the first key belongs to block 0
			}
			w.last = append(w.last, p.last[i])
			rank += uint64(n)
		}
		_, err := sink.Write(p.blocks)
		return err
	})
}

// inOrder calls work for all pieces in parallel, one per thread, and then done for each piece, in order. There is one
// piece more in memory than threads, so that a thread has work while done runs. The memory of pieces is reused.
func (w *huffmanWriter) inOrder(work func(*huffmanPiece), done func(*huffmanPiece) error) error {
	pieces := (max(len(w.keys), 1) - 1 + pieceKeys - 1) / pieceKeys
	o := parallel.Options{Workers: min(w.threads, pieces), Window: w.threads + 1}
	unused := make(chan *huffmanPiece, o.Window)
	for range cap(unused) {
		unused <- new(huffmanPiece)
	}
	return parallel.Ordered(context.Background(), o, func(ctx context.Context, yield func(*huffmanPiece) bool) error {
		for i := range pieces {
			select {
			case p := <-unused:
				p.keys = w.keys[i*pieceKeys : min((i+1)*pieceKeys+1, len(w.keys))]
				yield(p)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}, func(_ context.Context, pieces iter.Seq[*huffmanPiece]) error {
		for p := range pieces {
			work(p)
		}
		return nil
	}, func(p *huffmanPiece) error {
		err := done(p)
		unused <- p
		return err
	})
}
