package lists

import (
	"encoding/binary"
	"math/bits"
)

// A bitWriter appends numbers of bits, the lowest bit first.
type bitWriter struct {
	data []byte
	word uint64 // bits that are no byte yet
	n    int    // how many
}

// put appends the n lowest bits of v, at most 64; the others must be 0.
func (w *bitWriter) put(v uint64, n int) {
	if n > 32 {
		w.put(v&0xffffffff, 32)
		v >>= 32
		n -= 32
	}
	w.word |= v << w.n
	w.n += n
	for ; w.n >= 8; w.n -= 8 {
		w.data = append(w.data, byte(w.word))
		w.word >>= 8
	}
}

// escape is a quotient that stands for any larger one: the number follows unencoded.
const escape = 40

// rice appends v with k bits of remainder.
func (w *bitWriter) rice(v uint64, k int) {
	q := v >> k
	if q >= escape {
		w.put(0, 32)
		w.put(1<<(escape-32), escape-32+1)
		w.put(v, 64)
		return
	}
	w.put(0, int(q)/2)
	w.put(1<<(int(q)-int(q)/2), int(q)-int(q)/2+1)
	w.put(v&(1<<k-1), k)
}

// riceBits returns the size of values in bits, with k bits of remainder.
func riceBits(values []uint64, k int) (n int) {
	for _, v := range values {
		if q := v >> k; q < escape {
			n += int(q) + 1 + k
		} else {
			n += escape + 1 + 64
		}
	}
	return n
}

// riceParameter returns the number of bits of remainder that makes values shortest: near the
// logarithm of their mean.
func riceParameter(values []uint64) (k int) {
	high, low := uint64(0), uint64(0)
	for _, v := range values {
		var carry uint64
		low, carry = bits.Add64(low, v, 0)
		high += carry
	}
	if len(values) > 0 && high < uint64(len(values)) {
		mean, _ := bits.Div64(high, low, uint64(len(values)))
		k = bits.Len64(mean)
	}
	best := riceBits(values, k)
	for k > 0 {
		less := riceBits(values, k-1)
		if less > best {
			break
		}
		k, best = k-1, less
	}
	return k
}

// flush pads the last byte.
func (w *bitWriter) flush() {
	if w.n > 0 {
		w.data = append(w.data, byte(w.word))
	}
	w.word, w.n = 0, 0
}

// A bitReader reads the output of a bitWriter. Bits after the end are zeros and set bad.
type bitReader struct {
	data []byte
	at   int // bit
	bad  bool
}

// peek returns at least 56 bits.
func (r *bitReader) peek() uint64 {
	i := r.at >> 3
	if i+8 <= len(r.data) {
		return binary.LittleEndian.Uint64(r.data[i:]) >> (r.at & 7)
	}
	var tail [8]byte
	if i < len(r.data) {
		copy(tail[:], r.data[i:])
	}
	return binary.LittleEndian.Uint64(tail[:]) >> (r.at & 7)
}

// get reads n bits, at most 64.
func (r *bitReader) get(n int) (v uint64) {
	if n > 32 {
		v = r.get(32)
		return v | r.get(n-32)<<32
	}
	v = r.peek() & (1<<n - 1)
	r.skip(n)
	return v
}

func (r *bitReader) skip(n int) {
	r.at += n
	r.bad = r.bad || r.at > 8*len(r.data)
}

// rice reads a number with k bits of remainder.
func (r *bitReader) rice(k int) uint64 {
	q := bits.TrailingZeros64(r.peek())
	if q > escape {
		r.bad = true
		return 0
	}
	r.skip(q + 1)
	if q == escape {
		return r.get(64)
	}
	return uint64(q)<<k | r.get(k)
}
