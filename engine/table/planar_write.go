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
// buffer of 64 KiB: memory beside the keys is 9 bits a group.
func writePlanar(sink store.Sink, prefix string, keys []uint64) error {
	h := planarHead{keys: uint64(len(keys))}
	h.groupBits, h.bucketBits = planarWidths(h.keys)
	starts, groups, wide := planarDirectory(&h, keys)

	sink.Section(prefix + "head")
	if _, err := sink.Write(h.append(nil)); err != nil {
		return err
	}
	for _, plane := range []struct {
		name  string
		write func(*wordWriter)
	}{
		{"starts", func(w *wordWriter) { w.words(starts) }},
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

// planarDirectory makes starts, groups and wide, and completes the head. It
// panics when keys do not ascend.
func planarDirectory(h *planarHead, keys []uint64) (starts, groups, wide []uint64) {
	shift := 64 - h.groupBits
	starts = make([]uint64, h.blocks()+1)
	corrections := make([]byte, h.groupsBytes())
	type wideBlock struct {
		number  uint64
		offsets [groupsPerBlock]uint64
	}
	var wides []wideBlock
	widest, rank := uint64(0), uint64(0)
	for block := range h.blocks() {
		var at [groupsPerBlock + 1]uint64 // where its groups begin
		for j := range uint64(groupsPerBlock) {
			at[j] = rank
			for group := block*groupsPerBlock + j; rank < h.keys && keys[rank]>>shift == group; rank++ {
				if rank > 0 && keys[rank] <= keys[rank-1] {
					panic(fmt.Sprintf("table: key %d does not ascend: %#016x after %#016x", rank, keys[rank], keys[rank-1]))
				}
			}
		}
		first, count := at[0], rank-at[0]
		starts[block] = first
		fits := true
		own := corrections[block*groupsPerBlock:]
		for j := range uint64(groupsPerBlock) {
			correction := int64(at[j]) - int64(first+j*count/groupsPerBlock)
			fits = fits && correction == int64(int8(correction))
			own[j] = byte(correction)
		}
		if fits {
			continue
		}
		b := wideBlock{number: block}
		for j := range b.offsets {
			b.offsets[j] = at[j] - first
			own[j] = 0
		}
		binary.LittleEndian.PutUint32(own[wideIndexAt:], uint32(len(wides)))
		starts[block] |= asm.PlanarWide
		wides = append(wides, b)
		widest = max(widest, count)
	}
	if rank != h.keys {
		panic(fmt.Sprintf("table: key %d does not ascend: %#016x after %#016x", rank, keys[rank], keys[rank-1]))
	}
	starts[h.blocks()] = rank

	h.wideBlocks, h.wideBits = uint64(len(wides)), uint(succinct.WidthFor(widest))
	packed := succinct.NewPacked(h.wideBlocks*groupsPerBlock, int(h.wideBits))
	for i, b := range wides {
		for j, offset := range b.offsets {
			packed.Set(uint64(i*groupsPerBlock+j), offset)
		}
	}
	groups = make([]uint64, len(corrections)/8)
	for i := range groups {
		groups[i] = binary.LittleEndian.Uint64(corrections[8*i:])
	}
	return starts, groups, packed.Words
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
