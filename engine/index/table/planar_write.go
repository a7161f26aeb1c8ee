package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"ndd/asm"
	"ndd/engine/storage/store"
)

// planarPlanes are what the sections of a planar table are written from.
type planarPlanes struct {
	pieces  []planarPiece // all keys, in order
	flushed bool          // low and rest are written elsewhere
	fences  []uint64
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
	fences := make([]uint64, 0, h.fences())
	for i := 0; i < len(keys); i += fenceKeys {
		fences = append(fences, keys[i])
	}
	return d.write(sink, prefix, planarPlanes{pieces: pieces, fences: fences})
}

// write writes all sections.
func (d *planarDirectory) write(sink store.Sink, prefix string, p planarPlanes) error {
	width := d.head.restBits()
	words := func(words []uint64) func(io.Writer) error {
		return func(w io.Writer) error { return writeWords(w, words) }
	}
	for _, section := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"head", func(w io.Writer) error {
			_, err := w.Write(d.head.append(nil))
			return err
		}},
		{"lines", words(d.lines)},
		{"wide", words(d.wide.Words)},
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

// writeWords writes little-endian words, some at a time: a sink looks at its context then.
func writeWords(w io.Writer, words []uint64) error {
	for some := range slices.Chunk(words, 1<<13) {
		if _, err := w.Write(store.Bytes64(some)); err != nil {
			return err
		}
	}
	return nil
}
