// Package idlist stores the external IDs of documents (paths, URLs) in compressed form, for look-up by ordinal. Files
// that contain such a list call its sections "names".
//
// A block has 256 IDs, each as its length (uvarint) and its bytes. The block is compressed by zstd. A second section
// stores the ends of the blocks:
//
//	blocks:  | zstd(IDs 0..255) | zstd(IDs 256..511) | ... |
//	ends:    | count | end of block 0 | end of block 1 | ... |    uint64 each
//
// Neighbouring IDs are similar, so a path of a file tree takes 5-10 bytes instead of 60. A look-up reads one end (a
// cache miss), and decompresses one block of 2-4 KiB. This takes about 10 microseconds, and less for the next ID of
// the same block, because a [Cursor] keeps the block.
package idlist

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"example.org/ndd/engine/storage/store"
)

const (
	perBlock = 256
	// MaxBytes is the maximum length of an ID. It limits the memory that a hostile block can make a reader allocate:
	// 256 IDs of that length.
	MaxBytes = 1 << 15
	blockMax = perBlock * (MaxBytes + binary.MaxVarintLen64)
)

// A Writer compresses IDs to a stream of blocks. It is used by one goroutine.
type Writer struct {
	out    io.Writer
	zstd   *zstd.Encoder
	count  uint64
	offset uint64
	ends   []uint64
	block  []byte
	comp   []byte
}

// NewWriter returns a writer of blocks to out.
func NewWriter(out io.Writer) *Writer {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return &Writer{out: out, zstd: enc}
}

// Append adds the next ID. It fails if the ID is longer than [MaxBytes], or if the stream fails.
func (w *Writer) Append(id string) error {
	if len(id) > MaxBytes {
		return fmt.Errorf("the ID %.40q... has %d bytes; %d are allowed", id, len(id), MaxBytes)
	}
	w.block = binary.AppendUvarint(w.block, uint64(len(id)))
	w.block = append(w.block, id...)
	w.count++
	if w.count%perBlock == 0 {
		return w.flush()
	}
	return nil
}

func (w *Writer) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	w.comp = w.zstd.EncodeAll(w.block, w.comp[:0])
	w.block = w.block[:0]
	w.offset += uint64(len(w.comp))
	w.ends = append(w.ends, w.offset)
	_, err := w.out.Write(w.comp)
	return err
}

// Close writes the last block and returns the count and ends for [Open]. It does not close the stream.
func (w *Writer) Close() (ends []uint64, err error) {
	err = w.flush()
	w.zstd.Close()
	return append([]uint64{w.count}, w.ends...), err
}

// A List is a stored list of IDs. Many goroutines may read it, each through its own [Cursor].
type List struct {
	blocks store.Section
	ends   []uint64
	count  uint64
	zstd   *zstd.Decoder
}

// Open returns the list of two sections. It checks that the ends are consistent with the blocks. Both sections must
// stay unchanged until [List.Close]. Errors, here and later, wrap [store.ErrCorrupt].
func Open(blocks, last store.Section) (*List, error) {
	ends := store.Uint64s(last.Data)
	if len(ends) == 0 {
		return nil, last.Corrupt(0, "IDs without a count")
	}
	count, ends := ends[0], ends[1:]
	if count > 1<<56 || (count+perBlock-1)/perBlock != uint64(len(ends)) {
		return nil, last.Corrupt(0, "%d IDs in %d blocks", count, len(ends))
	}
	if n := len(ends); n > 0 && ends[n-1] != uint64(len(blocks.Data)) || n == 0 && len(blocks.Data) != 0 {
		return nil, last.Corrupt(uint64(8*n), "the blocks of IDs have %d bytes, which is not the end of the last one", len(blocks.Data))
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(blockMax))
	if err != nil {
		return nil, err
	}
	return &List{blocks: blocks, ends: ends, count: count, zstd: dec}, nil
}

// Len returns the number of IDs.
func (n *List) Len() uint64 { return n.count }

// All yields the IDs in order.
func (n *List) All() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		c := n.Cursor()
		for i := range n.count {
			if !yield(c.ID(i)) {
				return
			}
		}
	}
}

// A Cursor looks up IDs and keeps the decompressed block of the last one. It is used by one goroutine.
type Cursor struct {
	list   *List
	block  int64 // number of the block in raw and start, -1 for none
	buffer []byte
	start  []int // start and end of each ID in raw
}

// Cursor returns a new cursor.
func (n *List) Cursor() *Cursor { return &Cursor{list: n, block: -1} }

// ID returns the ID of an ordinal. It panics if the ordinal is not below [List.Len].
func (c *Cursor) ID(ordinal uint64) (string, error) {
	if ordinal >= c.list.count {
		panic(fmt.Sprintf("idlist: ordinal %d of %d", ordinal, c.list.count))
	}
	if b := int64(ordinal / perBlock); b != c.block {
		c.block = -1
		if err := c.load(b); err != nil {
			return "", err
		}
		c.block = b
	}
	i := 2 * int(ordinal%perBlock)
	return string(c.buffer[c.start[i]:c.start[i+1]]), nil
}

// load decompresses block b.
func (c *Cursor) load(b int64) error {
	n := c.list
	start, end := uint64(0), n.ends[b]
	if b > 0 {
		start = n.ends[b-1]
	}
	if start > end || end > uint64(len(n.blocks.Data)) {
		return n.blocks.Corrupt(0, "block %d of IDs: bytes %d to %d of %d", b, start, end, len(n.blocks.Data))
	}
	if err := c.unpack(n.blocks.Data[start:end], min(perBlock, n.count-uint64(b)*perBlock)); err != nil {
		return n.blocks.Corrupt(start, "block %d of IDs: %v", b, err)
	}
	return nil
}

// unpack decompresses a block of count IDs. It refuses a frame whose announced size is larger than its blocks can
// contain. A block takes at least 4 bytes. The decoder allocates the announced size before it decodes.
func (c *Cursor) unpack(block []byte, count uint64) (err error) {
	const zstdBlockMax = 128 << 10 // maximum content of a zstd block (RFC 8878, 3.1.1.2.4)
	var h zstd.Header
	if err := h.Decode(block); err != nil {
		return err
	}
	if h.HasFCS && h.FrameContentSize > uint64(len(block)-h.HeaderSize)/4*zstdBlockMax {
		return fmt.Errorf("a zstd frame of %d bytes announces %d bytes", len(block), h.FrameContentSize)
	}
	if c.buffer, err = c.list.zstd.DecodeAll(block, c.buffer[:0]); err != nil {
		return err
	}
	c.start = c.start[:0]
	offset := 0
	for range count {
		size, k := binary.Uvarint(c.buffer[offset:])
		if k <= 0 || size > uint64(len(c.buffer)-offset-k) {
			return errors.New("an ID runs past the end")
		}
		offset += k
		c.start = append(c.start, offset, offset+int(size))
		offset += int(size)
	}
	if offset != len(c.buffer) {
		return errors.New("trailing bytes after the last ID")
	}
	return nil
}

// Close frees the decoder. No cursor may be used afterwards.
func (n *List) Close() { n.zstd.Close() }
