package table

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"

	"ndd/asm"
	"ndd/engine/storage/store"
)

// planarPlanes are what the sections of a planar table are written from.
type planarPlanes struct {
	pieces  []planarPiece // all keys, in order
	flushed bool          // low and rest are written elsewhere
	fences  func(*wordWriter)
}

// writePlanar writes plane after plane, each in one pass over the keys: memory
// beside the keys is the lines, and 8 bytes for each bucket of a wide one.
func writePlanar(sink store.Sink, prefix string, keys []uint64) error {
	h := planarHead{keys: uint64(len(keys))}
	if err := h.plan(); err != nil {
		return err
	}
	d := directoryOf(&h, keys)
	const pieceKeys = 8192
	var pieces []planarPiece
	for rank, rest := 0, keys; len(rest) > 0; rank += pieceKeys {
		n := min(pieceKeys, len(rest))
		pieces = append(pieces, planarPiece{rank: uint64(rank), keys: n, words: rest[:n]})
		rest = rest[n:]
	}
	return d.write(sink, prefix, planarPlanes{
		pieces: pieces,
		fences: func(w *wordWriter) {
			for i := 0; i < len(keys); i += fenceKeys {
				w.word(keys[i])
			}
		},
	})
}

// write writes all sections.
func (d *planarDirectory) write(sink store.Sink, prefix string, p planarPlanes) error {
	width := d.head.restBits()
	words := func(f func(*wordWriter)) func(io.Writer) error {
		return func(to io.Writer) error {
			w := &wordWriter{to: to, buffer: make([]byte, 0, 1<<16)}
			f(w)
			return w.close()
		}
	}
	for _, section := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"head", func(w io.Writer) error {
			_, err := w.Write(d.head.append(nil))
			return err
		}},
		{"lines", words(func(w *wordWriter) { w.words(d.lines) })},
		{"wide", words(func(w *wordWriter) { w.words(d.wide.Words) })},
		{"low", func(w io.Writer) error { return cmp.Or(writeLow(w, p.pieces, width), padLow(w)) }},
		{"rest", func(w io.Writer) error {
			var rest restWriter
			return cmp.Or(rest.write(w, p.pieces, width), rest.close(w))
		}},
		{"fences", words(p.fences)},
	} {
		if p.flushed && (section.name == "low" || section.name == "rest") {
			continue
		}
		sink.Section(prefix + section.name)
		if err := section.write(sink); err != nil {
			return err
		}
	}
	return nil
}

// plan chooses the widths for the keys, if they are not too many.
func (h *planarHead) plan() error {
	if h.keys > asm.PlanarKeysMax {
		return fmt.Errorf("%d keys: a planar table holds %d", h.keys, uint64(asm.PlanarKeysMax))
	}
	h.bucketBits, h.perLine = PlanarWidths(h.keys)
	return nil
}

// wordWriter writes little-endian words, and hands them on in pieces.
type wordWriter struct {
	to     io.Writer
	buffer []byte
	err    error
}

func (w *wordWriter) word(v uint64) {
	w.buffer = binary.LittleEndian.AppendUint64(w.buffer, v)
	if len(w.buffer) == cap(w.buffer) {
		w.flush()
	}
}

// words writes many, without a copy.
func (w *wordWriter) words(vs []uint64) {
	const atOnce = 1 << 13
	w.flush()
	for len(vs) > 0 && w.err == nil {
		n := min(len(vs), atOnce)
		_, w.err = w.to.Write(store.Bytes64(vs[:n]))
		vs = vs[n:]
	}
}

func (w *wordWriter) flush() {
	if w.err == nil && len(w.buffer) > 0 {
		_, w.err = w.to.Write(w.buffer)
	}
	w.buffer = w.buffer[:0]
}

func (w *wordWriter) close() error {
	w.flush()
	return w.err
}
