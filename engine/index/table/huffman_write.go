package table

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"ndd/engine/parallel"
	"ndd/engine/storage/store"
	"ndd/huffman"
)

// pieceKeys are packed at a time. Each piece begins a block, so that they can be packed at the same time, and
// the table is the same on any number of threads; that leaves half a block in 5,000 empty.
const pieceKeys = 1 << 20

// writeHuffman packs piece after piece, as many at a time as there are threads, each by its own
// goroutine, and writes them in order.
//
//	keys --Count, piece by piece--> code
//	pieces --AppendBlock--> blocks, last, ranks --in order--> sink, and last and ranks behind the blocks
//
// Napkin: 8 ns a key and thread. Memory beside the keys: 6 bytes for each key of a piece and thread, and
// 17 for each block.
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

// A huffmanPiece is what some keys are packed to.
type huffmanPiece struct {
	keys   []uint64 // and before them the last of the piece before
	counts [huffman.Positions]uint64
	blocks []byte
	last   []uint64 // key of each block
	sizes  []int    // and how many it has
}

// count makes the code.
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
		for rest, n := p.keys, 0; len(rest) > 1; rest = rest[n:] {
			p.blocks, n = huffman.AppendBlock(p.blocks, w.code, rest, w.blockBytes)
			p.last, p.sizes = append(p.last, rest[n]), append(p.sizes, n)
		}
	}, func(p *huffmanPiece) error {
		for i, n := range p.sizes {
			if len(w.last)%blocksPerRank == 0 {
				w.ranks = append(w.ranks, rank)
			}
			if len(w.last) == 0 {
				rank++ // the first key goes with block 0
			}
			w.last = append(w.last, p.last[i])
			rank += uint64(n)
		}
		_, err := sink.Write(p.blocks)
		return err
	})
}

// inOrder calls work for all pieces, as many at a time as there are threads, and done for one after the
// other, in their order. There is one piece more than there are threads, for a thread to have work while
// one is being done with; their memory is used again.
func (w *huffmanWriter) inOrder(work func(*huffmanPiece), done func(*huffmanPiece) error) error {
	pieces := (max(len(w.keys), 1) - 1 + pieceKeys - 1) / pieceKeys
	o := parallel.Options{Workers: min(w.threads, pieces), Ahead: w.threads + 1}
	free := make(chan *huffmanPiece, o.Ahead)
	for range cap(free) {
		free <- new(huffmanPiece)
	}
	return parallel.Ordered(context.Background(), o, func(ctx context.Context, yield func(*huffmanPiece) bool) error {
		for i := range pieces {
			select {
			case p := <-free:
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
		free <- p
		return err
	})
}
