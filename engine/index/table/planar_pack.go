package table

import (
	"io"
	"math/bits"
	"sync/atomic"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/succinct"
	"example.org/ndd/engine/storage/store"
)

// A planarPiece is a range of consecutive keys. It may already be packed into low and rest planes:
//
//	words   | rest, from bit rank*restBits%64 on | low, 4 keys per word |
type planarPiece struct {
	rank   uint64   // rank of the first key
	bucket uint64   // bucket of the first key; only set by a [PlanarBuilder]
	keys   int      // number of keys
	words  []uint64 // both planes, or the keys if packed is false
	// The planes take at most 58 bits per key and two words, so they fit in the memory of 22 or more keys.
	packed bool
}

// restWords returns the number of words that contain the piece's part of the rest plane.
func (p *planarPiece) restWords(width uint) int {
	return int(succinct.WordsFor(p.rank*uint64(width)%64+uint64(p.keys)*uint64(width), 1))
}

func lowWords(keys int) int { return (keys + 3) / 4 }

// pack packs keys into buffer, which must not overlap them. If there are too few keys for that, it copies them. If
// buffer is nil, it keeps the slice.
func (p *planarPiece) pack(keys, buffer []uint64, width uint) {
	if buffer == nil {
		p.words = keys
		return
	}
	rest, low := p.restWords(width), lowWords(len(keys))
	if p.packed = rest+low <= len(buffer); !p.packed {
		p.words = buffer[:copy(buffer, keys)]
		return
	}
	p.words = buffer[: rest+low : rest+low]
	packRest(p.words[:rest], keys, width, uint(p.rank*uint64(width)%64))
	packLow(p.words[rest:], keys)
}

// planes returns the packed planes. It packs keys that are not packed yet into buffer, and may replace buffer.
func (p *planarPiece) planes(width uint, buffer []uint64) (rest, low, rebuffer []uint64) {
	n := p.restWords(width)
	if !p.packed {
		q := planarPiece{rank: p.rank, keys: p.keys}
		need := n + lowWords(p.keys)
		if len(buffer) < need {
			buffer = make([]uint64, need)
		}
		q.pack(p.words, buffer, width)
		return q.words[:n], q.words[n:], buffer
	}
	return p.words[:n], p.words[n:], buffer
}

// packLow packs the low 16 bits of four keys into each word.
func packLow(dst, keys []uint64) {
	for ; len(keys) >= 4; dst, keys = dst[1:], keys[4:] {
		k := keys[:4:4]
		dst[0] = k[0]&0xffff | k[1]&0xffff<<16 | k[2]&0xffff<<32 | k[3]<<48
	}
	if len(keys) > 0 {
		dst[0] = 0
		for i, k := range keys {
			dst[0] |= k & 0xffff << (16 * i)
		}
	}
}

// packRest packs width <= 48 bits of each key, from bit lowBits on. It writes to dst from bit usedBits on.
func packRest(dst, keys []uint64, width, usedBits uint) {
	if width == 0 {
		clear(dst)
		return
	}
	mask := uint64(1)<<width - 1
	word := uint64(0)
	for _, key := range keys {
		v := key >> lowBits & mask
		word |= v << (usedBits & 63)
		if usedBits += width; usedBits >= 64 {
			dst[0] = word
			dst = dst[1:]
			usedBits -= 64
			word = v >> ((width - usedBits) & 63)
		}
	}
	if usedBits > 0 && len(dst) > 0 {
		dst[0] = word
	}
}

// packUnary sets the bit bucket(i) + rank+i for every key i in words, where these bits must be zero. It reports
// whether the keys ascend. It is safe for concurrent use with other keys of the same table: such calls share only the
// first and last word of a part.
//
// Two or three of a hundred keys begin a new word, which is too often and too irregular for a branch. So each key
// stores its word again.
func packUnary(words, keys []uint64, rank uint64, bucketBits uint) (ascend bool) {
	shift := 64 - bucketBits
	bit := func(i int) uint64 { return keys[i]>>(shift&63) + rank + uint64(i) }
	// Set the bits of the first and the last word atomically, because other calls share these words.
	first, last := bit(0)/64, bit(len(keys)-1)/64
	start, end := 0, len(keys) // range of keys between the first and the last word
	var shared [2]uint64
	for ; start < end && bit(start)/64 == first; start++ {
		shared[0] |= 1 << (bit(start) & 63)
	}
	for ; start < end && bit(end-1)/64 == last; end-- {
		shared[1] |= 1 << (bit(end-1) & 63)
	}
	atomic.OrUint64(&words[first], shared[0])
	atomic.OrUint64(&words[last], shared[1])

	// Set the bits of the words in between.
	current, word := first, uint64(0)
	add := rank + uint64(start)
	for _, key := range keys[start:end] {
		bit := key>>(shift&63) + add
		add++
		if bit/64 != current {
			word = 0
		}
		current = bit / 64
		word |= 1 << (bit & 63)
		words[current] = word
	}
	// Count the keys that do not ascend, without a branch.
	descents := uint64(0)
	for i, key := range keys[1:] {
		_, borrow := bits.Sub64(keys[i], key, 0)
		descents += 1 - borrow
	}
	return descents == 0
}

// writeLow writes all pieces to the section "low", with padding after the last key.
func writeLow(w io.Writer, pieces []planarPiece, width uint) error {
	var buffer, low []uint64
	for i := range pieces {
		p := &pieces[i]
		_, low, buffer = p.planes(width, buffer)
		if _, err := w.Write(store.Bytes64(low)[:2*p.keys]); err != nil {
			return err
		}
	}
	_, err := w.Write(make([]byte, 2*asm.PlanarPad))
	return err
}

// writeRest writes all pieces to the section "rest". Two pieces may share a word.
func writeRest(w io.Writer, pieces []planarPiece, width uint) error {
	var buffer, rest []uint64
	var shared [1]uint64 // known bits of a word that is not written yet
	open := false        // shared has such a word
	for i := range pieces {
		p := &pieces[i]
		rest, _, buffer = p.planes(width, buffer)
		if len(rest) == 0 {
			continue
		}
		rest[0] |= shared[0]
		shared[0], open = 0, (p.rank+uint64(p.keys))*uint64(width)%64 != 0
		if open {
			shared[0], rest = rest[len(rest)-1], rest[:len(rest)-1]
		}
		if _, err := w.Write(store.Bytes64(rest)); err != nil {
			return err
		}
	}
	if !open {
		return nil
	}
	_, err := w.Write(store.Bytes64(shared[:]))
	return err
}
