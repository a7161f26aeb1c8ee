package segment

import (
	"encoding/binary"

	"ndd/asm"
	"ndd/engine/index/radix"
	"ndd/engine/index/succinct"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// A docList holds the documents of each fingerprint by its rank in table 0. Documents
// are numbered by their row in the segment.
//
//	rank       0   1       2
//	ordinals   7   0 3 9   2        packed
//	firsts     1   1 0 0   1        absent when every fingerprint has one document
//
// Ordinals take the bits of n-1, rounded up: 24 for 10 M, 27 for 100 M, where log2(n!)/n, the least that any order of n
// documents takes, is 21.8 and 25.1. Of the 1.4 to 2.2 bits between, 1.44 are those of which document is left when the
// others are known: to save them, the ordinals of all ranks must be coded together, as in a wavelet tree, where a
// look-up is a miss for each of the 20 levels and not one. The rest is the rounding, 0.75 at 10 M, 0.42 at 100 M, 0.10
// at 1,000 M. Nine ordinals whose upper seven bits share a word as digits would save 0.33 at 100 M (240 bits for 243),
// ten 0.7 at 10 M, for a 64-bit division a look-up and another format: 0.3 % of a document's bytes at 100 M.
type docList struct {
	section  store.Section // of the ordinals
	docs     uint64
	ordinals succinct.Packed
	firsts   *succinct.Ones
}

// A docWriter writes a docList as the pairs of table 0 come in.
type docWriter struct {
	sink   store.Sink
	width  int    // bits of an ordinal
	buffer []byte // packed words
	held   uint64 // the low used bits: what does not fill a word yet
	used   int

	docs   int
	before uint64 // the last key, when docs > 0
	firsts *memory.Buffer[uint64]
}

func newDocWriter(sink store.Sink, docs int) (*docWriter, error) {
	firsts, err := memory.Make[uint64]((docs + 63) / 64)
	if err != nil {
		return nil, err
	}
	sink.Section("ids.ordinals")
	return &docWriter{sink: sink, width: ordinalWidth(uint64(docs)), firsts: firsts, buffer: make([]byte, 0, 1<<16)}, nil
}

func (w *docWriter) close() { w.firsts.Free() }

// append writes the rows of the next pairs, and appends their keys that are new
// to keys.
func (w *docWriter) append(keys []uint64, pairs []radix.Pair) ([]uint64, error) {
	for _, p := range pairs {
		if w.docs == 0 || p[0] != w.before {
			keys = append(keys, p[0])
			w.before = p[0]
			w.firsts.Data[w.docs/64] |= 1 << (w.docs % 64)
		}
		w.docs++
		if w.width == 0 {
			continue
		}
		w.held |= p[1] << w.used
		if w.used += w.width; w.used >= 64 {
			if err := w.word(w.held); err != nil {
				return keys, err
			}
			w.used -= 64
			w.held = p[1] >> (w.width - w.used) // 0 when nothing is left: Go shifts by 64 to 0
		}
	}
	return keys, nil
}

// word appends a packed word, and writes the buffer when it is full.
func (w *docWriter) word(v uint64) (err error) {
	w.buffer = binary.LittleEndian.AppendUint64(w.buffer, v)
	if len(w.buffer) == cap(w.buffer) {
		_, err = w.sink.Write(w.buffer)
		w.buffer = w.buffer[:0]
	}
	return err
}

// finish writes what is left, and which documents are the first of their
// fingerprint, unless all are.
func (w *docWriter) finish(distinct int) error {
	if w.used > 0 {
		w.buffer = binary.LittleEndian.AppendUint64(w.buffer, w.held)
	}
	if _, err := w.sink.Write(w.buffer); err != nil || distinct == w.docs {
		return err
	}
	ones := succinct.NewOnes(w.firsts.Data)
	w.sink.Section("ids.firsts")
	if _, err := w.sink.Write(store.Bytes64(ones.Words)); err != nil {
		return err
	}
	w.sink.Section("ids.samples")
	_, err := w.sink.Write(store.Bytes64(ones.Samples))
	return err
}

// ordinalWidth returns the bits of an ordinal of so many documents.
func ordinalWidth(docs uint64) int { return succinct.WidthFor(max(docs, 1) - 1) }

// openDocs opens the documents of so many fingerprints, and checks that the sections have the right
// lengths.
func openDocs(source store.Source, docs, fingerprints uint64) (x docList, err error) {
	ordinals, err := source.Section("ids.ordinals")
	if err != nil {
		return x, err
	}
	x.section, x.docs = ordinals, docs
	x.ordinals = succinct.Packed{Words: store.Uint64s(ordinals.Data), Width: ordinalWidth(docs)}
	if want := succinct.WordsFor(docs, x.ordinals.Width); uint64(len(ordinals.Data)) != 8*want {
		return x, ordinals.Corrupt(0, "%d bytes of ordinals for %d documents", len(ordinals.Data), docs)
	}
	if docs == fingerprints {
		return x, nil
	}
	firsts, err := source.Section("ids.firsts")
	if err != nil {
		return x, err
	}
	samples, err := source.Section("ids.samples")
	if err != nil {
		return x, err
	}
	if uint64(len(firsts.Data)) != (docs+63)/64*8 {
		return x, firsts.Corrupt(0, "%d bytes of bits for %d documents", len(firsts.Data), docs)
	}
	x.firsts = &succinct.Ones{Words: store.Uint64s(firsts.Data), Samples: store.Uint64s(samples.Data)}
	return x, nil
}

// corrupt returns an error about what stands at ordinal i, or about the fingerprints that ordinals
// belong to.
func (x *docList) corrupt(i uint64, why string, args ...any) error {
	return x.section.Corrupt(i*uint64(x.ordinals.Width)/8, why, args...)
}

// prefetch requests the cache lines that [docList.of] and the ordinals of the fingerprints of about
// these ranks are in. room must be as long as ranks; it is overwritten.
func (x *docList) prefetch(ranks, room []uint64) {
	copy(room, ranks)
	if x.firsts != nil {
		x.firsts.Prefetch(ranks, room)
		for i, rank := range ranks {
			room[i], _ = x.firsts.Select(rank)
		}
	}
	for i, at := range room {
		room[i] = at * uint64(x.ordinals.Width) / 64
	}
	asm.PrefetchAt(x.ordinals.Words, room)
}

// A docCursor goes through the ranges of the ordinals of fingerprints in order of their ranks.
type docCursor struct {
	list *docList
	at   uint64 // where the next one begins
}

// cursor returns one that begins with a rank. ok is false where the file is not sound, or has no such rank.
func (x *docList) cursor(rank uint64) (c docCursor, ok bool) {
	from, _, ok := x.of(rank)
	return docCursor{x, from}, ok
}

// next is [docList.of] of the next rank.
func (c *docCursor) next() (from, to uint64, ok bool) {
	from, to = c.at, c.at+1
	if c.list.firsts != nil && from < c.list.docs {
		to = min(c.list.firsts.Next(from), c.list.docs)
	}
	c.at = to
	return from, to, from < to && to <= c.list.docs
}

// of returns the range of the ordinals of the fingerprint of a rank. ok is false where the file is not
// sound, or has no such rank.
func (x *docList) of(rank uint64) (from, to uint64, ok bool) {
	if x.firsts == nil {
		return rank, rank + 1, rank < x.docs
	}
	from, ok = x.firsts.Select(rank)
	if !ok {
		return 0, 0, false
	}
	to = min(x.firsts.Next(from), x.docs)
	return from, to, from < to
}
