package segment

import (
	"example.org/ndd/engine/index/succinct"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
)

// A docList holds the documents of each fingerprint, by the rank of the fingerprint in table 0. The number of a
// document is its row in the segment.
//
//	rank       0   1       2
//	ordinals   7   0 3 9   2        below the number of documents
//	firsts     1   1 0 0   1        absent when every fingerprint has one document
//
// Ordinals of n documents are packed in log2 n bits, rounded up: 24 for 10 M, 27 for 100 M.
//
// The order of n documents has log2(n!)/n bits each, 1.44 bits less than log2 n. Codes close to this bound (Munro,
// Raman, Raman and Rao, 2012) need 19 misses or more per document. That takes as long as the query itself.
type docList struct {
	section      store.Section // section of the ordinals
	docs         uint64
	fingerprints uint64
	ordinals     succinct.Array
	firsts       *succinct.Ones
}

// A docWriter writes a docList. It receives the documents in the order of table 0.
type docWriter struct {
	sink     store.Sink
	ordinals *succinct.ArrayWriter

	docs    int
	lastKey uint64 // the last key, when docs > 0
	firsts  *memory.Buffer[uint64]
}

// docPiece is the number of documents that are processed at a time: their keys and rows stay in the first-level cache.
const docPiece = 1024

func newDocWriter(sink store.Sink, docs int) (*docWriter, error) {
	firsts, err := memory.Make[uint64]((docs + 63) / 64)
	if err != nil {
		return nil, err
	}
	sink.Section("ids.ordinals")
	w := &docWriter{sink: sink, ordinals: succinct.NewArrayWriter(ordinalBits(uint64(docs))), firsts: firsts}
	w.ordinals.Words = make([]uint64, 0, docWords+docPiece)
	return w, nil
}

// docWords is the number of words of ordinals that are written at a time.
const docWords = 1 << 13

func (w *docWriter) close() { w.firsts.Free() }

// appendDocs writes the rows of documents whose keys ascend. It moves the new keys to the front of keys and returns
// their number.
func appendDocs[T uint32 | uint64](w *docWriter, keys []uint64, rows []T) (distinct int, err error) {
	for start := 0; start < len(keys); start += docPiece {
		end := min(start+docPiece, len(keys))
		distinct += w.mark(keys[distinct:], keys[start:end])
		if succinct.AppendArray(w.ordinals, rows[start:end]); len(w.ordinals.Words) >= docWords {
			if err := w.flush(); err != nil {
				return distinct, err
			}
		}
	}
	return distinct, nil
}

// mark marks the documents that are the first of their keys. It moves those keys to dst and returns their number. dst
// may be the memory of keys, or memory before it.
func (w *docWriter) mark(dst, keys []uint64) (distinct int) {
	previous, docs, bits := w.lastKey, w.docs, uint64(0)
	for _, key := range keys {
		first := uint64(0)
		if key != previous || docs == 0 {
			first = 1
		}
		dst[distinct] = key
		distinct += int(first)
		previous = key
		bits |= first << (docs % 64)
		if docs++; docs%64 == 0 {
			w.firsts.Data[docs/64-1] |= bits
			bits = 0
		}
	}
	if docs%64 > 0 {
		w.firsts.Data[docs/64] |= bits
	}
	w.lastKey, w.docs = previous, docs
	return distinct
}

// flush writes the words that are complete.
func (w *docWriter) flush() error {
	_, err := w.sink.Write(store.Bytes64(w.ordinals.Words))
	w.ordinals.Words = w.ordinals.Words[:0]
	return err
}

// finish writes the remaining ordinals. Unless all fingerprints are distinct, it also writes which documents are the
// first of their fingerprint.
func (w *docWriter) finish(distinct int) error {
	w.ordinals.Finish()
	if err := w.flush(); err != nil || distinct == w.docs {
		return err
	}
	ones := succinct.NewOnes(w.firsts.Data)
	if err := store.WriteSection(w.sink, "ids.firsts", store.Bytes64(ones.Words)); err != nil {
		return err
	}
	return store.WriteSection(w.sink, "ids.samples", store.Bytes64(ones.Samples))
}

// ordinalBits returns the number of bits of an ordinal.
func ordinalBits(docs uint64) int { return succinct.WidthFor(max(docs, 1) - 1) }

// openDocs opens the documents of n fingerprints. It checks that the sections have the right lengths.
func openDocs(source store.Source, docs, fingerprints uint64) (x docList, err error) {
	ordinals, err := source.Section("ids.ordinals")
	if err != nil {
		return x, err
	}
	x.section, x.docs, x.fingerprints = ordinals, docs, fingerprints
	x.ordinals = succinct.Array{Words: store.Uint64s(ordinals.Data), Width: ordinalBits(docs)}
	if uint64(len(ordinals.Data)) != 8*succinct.WordsFor(docs, x.ordinals.Width) {
		return x, ordinals.Corrupt(0, "%d bytes of ordinals for %d documents", len(ordinals.Data), docs)
	}
	if docs == fingerprints {
		return x, nil
	}
	firsts, err := store.SectionOf(source, "ids.firsts", (docs+63)/64*8)
	if err != nil {
		return x, err
	}
	samples, err := source.Section("ids.samples")
	if err != nil {
		return x, err
	}
	x.firsts = &succinct.Ones{Words: store.Uint64s(firsts.Data), Samples: store.Uint64s(samples.Data)}
	return x, nil
}

// corrupt returns an error about ordinal i, or about the fingerprints of the ordinals.
func (x *docList) corrupt(i uint64, reason string, args ...any) error {
	return x.section.Corrupt(i*uint64(x.ordinals.Width)/8, reason, args...)
}

// prefetch requests the cache lines that [docList.rangeOf] reads for these ranks, and the lines of their
// ordinals. It overwrites scratch, which must have the length of ranks.
func (x *docList) prefetch(ranks, scratch []uint64) {
	copy(scratch, ranks)
	if x.firsts != nil {
		x.firsts.Prefetch(ranks, scratch)
		for i, rank := range ranks {
			scratch[i], _ = x.firsts.Select(rank)
		}
	}
	x.ordinals.Prefetch(scratch)
}

// A docCursor returns the ordinals of one fingerprint after the other, in the order of their ranks.
type docCursor struct {
	list    *docList
	ordinal uint64 // first ordinal of the next fingerprint
}

// cursor returns a cursor that begins with the documents of a rank. If there is no such rank, next fails. The
// documents of rank 0 begin with ordinal 0, whatever the file says: otherwise ordinals would be missing.
func (x *docList) cursor(rank uint64) docCursor {
	if rank == 0 {
		return docCursor{x, 0}
	}
	r, _ := x.rangeOf(rank)
	return docCursor{x, r.start}
}

// ends returns an error unless rank begins at the cursor's ordinal, or the list ends there if there are no more
// fingerprints. So parts of the list that are read separately have no gap and no common ordinals.
func (c *docCursor) ends(rank uint64) error {
	due := c.list.docs
	if rank < c.list.fingerprints {
		r, err := c.list.rangeOf(rank)
		if err != nil {
			return err
		}
		due = r.start
	}
	if c.ordinal != due {
		return c.list.corrupt(c.ordinal, "the documents of the first %d fingerprints end at ordinal %d, where %d is due", rank,
			c.ordinal, due)
	}
	return nil
}

// next is [docList.rangeOf] of the next rank, which is the given one.
func (c *docCursor) next(rank uint64) (Range, error) {
	r, err := c.list.rangeAt(c.ordinal, rank)
	c.ordinal = r.end
	return r, err
}

// rangeOf returns the range of the ordinals of a rank. The error wraps [store.ErrCorrupt] if the
// file is corrupt or has no such rank.
func (x *docList) rangeOf(rank uint64) (Range, error) {
	i, ok := rank, true
	if x.firsts != nil {
		i, ok = x.firsts.Select(rank)
	}
	if !ok {
		i = x.docs
	}
	return x.rangeAt(i, rank)
}

// rangeAt returns the range of the ordinals of a rank that begins with the given ordinal.
func (x *docList) rangeAt(ordinal, rank uint64) (Range, error) {
	r := Range{ordinal, ordinal + 1}
	if x.firsts != nil && ordinal < x.docs {
		r.end = min(x.firsts.Next(ordinal), x.docs)
	}
	if r.end > x.docs {
		return r, x.corrupt(0, "no documents of the fingerprint of rank %d", rank)
	}
	return r, nil
}

// eachRange calls f with the rank of each fingerprint, in ascending order, and the range of its ordinals. An error of f
// ends it. Other errors wrap [store.ErrCorrupt]: the ranges are not the ranges of all documents.
func (x *docList) eachRange(f func(rank uint64, r Range) error) error {
	c := x.cursor(0)
	for rank := range x.fingerprints {
		r, err := c.next(rank)
		if err == nil {
			err = f(rank, r)
		}
		if err != nil {
			return err
		}
	}
	return c.ends(x.fingerprints)
}

// row returns the document of ordinal i. The error wraps [store.ErrCorrupt].
func (x *docList) row(i uint64) (uint64, error) {
	doc := x.ordinals.At(i)
	if doc >= x.docs {
		return 0, x.corrupt(i, "document %d of %d", doc, x.docs)
	}
	return doc, nil
}

// check checks that the documents of the fingerprints follow each other, and are all documents. It needs one bit of
// memory per document.
func (x *docList) check() error {
	remaining := NewRowSet(x.docs)
	return x.eachRange(func(_ uint64, r Range) error {
		for i := r.start; i < r.end; i++ {
			doc, err := x.row(i)
			if err == nil && !remaining.Has(doc) {
				err = x.corrupt(i, "document %d has two fingerprints", doc)
			}
			if err != nil {
				return err
			}
			remaining.Drop(doc)
		}
		return nil
	})
}
