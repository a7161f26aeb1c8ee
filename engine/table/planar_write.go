package table

import (
	"encoding/binary"
	"fmt"
	"io"

	"ndd/asm"
	"ndd/engine/store"
	"ndd/engine/succinct"
)

// writePlanar writes plane after plane, each in one pass over the keys through a
// buffer of 64 KiB: memory beside the keys is a byte a group, and eight for each
// group of a wide block.
func writePlanar(sink store.Sink, prefix string, keys []uint64) error {
	h := planarHead{keys: uint64(len(keys))}
	if h.keys > asm.PlanarKeysMax {
		return fmt.Errorf("%d keys: a planar table holds %d", h.keys, uint64(asm.PlanarKeysMax))
	}
	h.groupBits, h.bucketBits = planarWidths(h.keys)
	groups, wide := planarDirectory(&h, keys)

	sink.Section(prefix + "head")
	if _, err := sink.Write(h.append(nil)); err != nil {
		return err
	}
	for _, plane := range []struct {
		name  string
		write func(*wordWriter)
	}{
		{"groups", func(w *wordWriter) { w.words(groups) }},
		{"wide", func(w *wordWriter) { w.words(wide) }},
		{"low", func(w *wordWriter) {
			for _, key := range keys {
				w.bits(key&(1<<lowBits-1), lowBits)
			}
			for range asm.PlanarPad {
				w.bits(0, lowBits)
			}
			// 2 bytes a key need not be whole words.
			w.tail = int(2*(h.keys+asm.PlanarPad)) % 8
		}},
		{"rest", func(w *wordWriter) {
			width := h.restBits()
			for _, key := range keys {
				w.bits(key>>lowBits&(1<<width-1), width)
			}
		}},
		{"unary", func(w *wordWriter) { w.unary(keys, &h) }},
		{"fences", func(w *wordWriter) {
			for i := 0; i < len(keys); i += fenceKeys {
				w.word(keys[i])
			}
		}},
	} {
		sink.Section(prefix + plane.name)
		w := &wordWriter{to: sink, buffer: make([]byte, 0, 1<<16)}
		plane.write(w)
		if err := w.close(); err != nil {
			return err
		}
	}
	return nil
}

// planarDirectory makes groups and wide, and completes the head. It panics when
// keys do not ascend.
func planarDirectory(h *planarHead, keys []uint64) (groups, wide []uint64) {
	shift := 64 - h.groupBits
	groups = make([]uint64, h.groupsWords())
	directory := asm.Planar{Groups: groups}
	var offsets []uint64 // of wide blocks
	widest, rank := uint64(0), uint64(0)
	for block := range h.blocks() {
		var starts [groupsPerBlock]uint64
		for j := range starts {
			starts[j] = rank
			for group := block*groupsPerBlock + uint64(j); rank < h.keys && keys[rank]>>shift == group; rank++ {
				if rank > 0 && keys[rank] <= keys[rank-1] {
					panic(fmt.Sprintf("table: key %d does not ascend: %#016x after %#016x", rank, keys[rank], keys[rank-1]))
				}
			}
		}
		if directory.SetBlock(block, &starts, rank) {
			continue
		}
		groups[lineWords*block] = h.wideBlocks
		h.wideBlocks++
		for _, start := range starts {
			offsets = append(offsets, start-starts[0])
			widest = max(widest, start-starts[0])
		}
	}
	if rank != h.keys {
		panic(fmt.Sprintf("table: key %d does not ascend: %#016x after %#016x", rank, keys[rank], keys[rank-1]))
	}
	groups[len(groups)-1] = rank << 8 // the base behind the last block

	h.wideBits = uint(succinct.WidthFor(widest))
	packed := succinct.NewPacked(uint64(len(offsets)), int(h.wideBits))
	for i, offset := range offsets {
		packed.Set(uint64(i), offset)
	}
	return groups, packed.Words
}

// wordWriter packs integers into little-endian words as [succinct.Packed] does,
// and hands them on in pieces.
type wordWriter struct {
	to     io.Writer
	buffer []byte
	held   uint64 // bits that do not make a word yet
	used   uint   // how many
	tail   int    // bytes to keep of the last word, 0 for all
	err    error
}

func (w *wordWriter) word(v uint64) {
	w.buffer = binary.LittleEndian.AppendUint64(w.buffer, v)
	if len(w.buffer) == cap(w.buffer) {
		w.flush()
	}
}

func (w *wordWriter) words(vs []uint64) {
	for _, v := range vs {
		w.word(v)
	}
}

// bits appends the width <= 63 bits of v.
func (w *wordWriter) bits(v uint64, width uint) {
	w.held |= v << w.used
	if w.used += width; w.used >= 64 {
		w.word(w.held)
		w.used -= 64
		w.held = v >> (width - w.used)
	}
}

// unary writes the bits bucket(i)+i of every key i, and zeros up to the end.
func (w *wordWriter) unary(keys []uint64, h *planarHead) {
	shift := 64 - h.bucketBits
	at, word := uint64(0), uint64(0)
	for i, key := range keys {
		bit := key>>shift + uint64(i)
		for ; at < bit/64; at++ {
			w.word(word)
			word = 0
		}
		word |= 1 << (bit % 64)
	}
	for ; at < h.unaryWords(); at++ {
		w.word(word)
		word = 0
	}
}

func (w *wordWriter) flush() {
	if w.err == nil {
		_, w.err = w.to.Write(w.buffer)
	}
	w.buffer = w.buffer[:0]
}

func (w *wordWriter) close() error {
	if w.used > 0 {
		w.buffer = binary.LittleEndian.AppendUint64(w.buffer, w.held)
		if w.tail > 0 {
			w.buffer = w.buffer[:len(w.buffer)-8+w.tail]
		}
	}
	w.flush()
	return w.err
}
