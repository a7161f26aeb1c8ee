package mapreduce

import (
	"encoding/base64"
	"errors"
	"math/bits"
)

// A block is a sorted set of numbers of some bits, as the text of a value. The shuffle of pairs carries nothing but
// blocks, so they are small: differences of neighbours, in Rice codes, in base 64.
//
//	digit     digits     codes
//	| r       | numbers  | q in unary, r bits | q in unary, r bits | ... zeros
//
// A set of n random numbers of w bits has w - log2 n + 1.44 bits of entropy each; the codes take 0.03 to 0.1 more, base 64
// a third more, which a shuffle that is compressed with DEFLATE takes away again.

var errBlock = errors.New("no block of fingerprints")

// bitWriter writes bits, the most significant first.
type bitWriter struct {
	out  []byte
	word uint64
	n    uint // bits in word
}

func (w *bitWriter) write(v uint64, n uint) {
	for n > 0 {
		some := min(n, 8-w.n%8)
		w.word = w.word<<some | v>>(n-some)&(1<<some-1)
		if w.n += some; w.n%8 == 0 {
			w.out = append(w.out, byte(w.word))
		}
		n -= some
	}
}

// end pads the last byte with zeros.
func (w *bitWriter) end() []byte {
	if rest := w.n % 8; rest > 0 {
		w.write(0, 8-rest)
	}
	return w.out
}

// riceBits returns the parameter that suits differences of this mean: codes of r + 1 + difference/2^r bits.
func riceBits(mean uint64) uint {
	if mean < 2 {
		return 0
	}
	return uint(bits.Len64(mean/16*11+mean%16*11/16) - 1) // log2 of mean times ln 2
}

// appendBlock appends the block of a sorted set of numbers below 2^width.
func appendBlock(dst []byte, sorted []uint64, buffer []byte) (block, scratch []byte) {
	if len(sorted) == 0 {
		return dst, buffer
	}
	r := riceBits(sorted[len(sorted)-1] / uint64(len(sorted)))
	w := bitWriter{out: buffer[:0]}
	next := uint64(0) // the least that may come
	for _, v := range sorted {
		d := v - next
		for q := d >> r; ; q -= 32 {
			if q < 32 {
				w.write(1, uint(q)+1)
				break
			}
			w.write(0, 32)
		}
		w.write(d&(1<<r-1), r)
		next = v + 1
	}
	dst = append(dst, digits[r])
	dst = appendNumber(dst, uint64(len(sorted)), 4)
	raw := w.end()
	return base64.RawStdEncoding.AppendEncode(dst, raw), raw
}

// blockMax is the most numbers that a block has.
const blockMax = 1<<24 - 1

// bitReader reads what a bitWriter wrote.
type bitReader struct {
	in []byte
	at uint // bits read
}

func (r *bitReader) left() uint { return uint(len(r.in))*8 - r.at }

func (r *bitReader) read(n uint) (v uint64) {
	for n > 0 {
		free := 8 - r.at%8
		some := min(n, free)
		b := uint64(r.in[r.at/8]) >> (free - some) & (1<<some - 1)
		v = v<<some | b
		r.at += some
		n -= some
	}
	return v
}

// zeros returns the number of zeros before the next one, and reads that too; false at the end.
func (r *bitReader) zeros() (n uint64, ok bool) {
	for r.left() > 0 {
		free := 8 - r.at%8
		b := r.in[r.at/8] << (8 - free)
		if b == 0 {
			n += uint64(free)
			r.at += free
			continue
		}
		z := uint(bits.LeadingZeros8(b))
		r.at += z + 1
		return n + uint64(z), true
	}
	return n, false
}

// parseBlock appends the numbers of a block. An error leaves dst as it was.
func parseBlock(dst []uint64, block, buffer []byte) (all []uint64, scratch []byte, err error) {
	if len(block) < 5 {
		return dst, buffer, errBlock
	}
	rice := digitOf[block[0]]
	n, ok := number(block[1:5])
	raw, err := base64.RawStdEncoding.AppendDecode(buffer[:0], block[5:])
	if !ok || rice == 0xff || err != nil || n > 8*uint64(len(raw)) {
		return dst, raw, errBlock
	}
	r := bitReader{in: raw}
	all = dst
	for next := uint64(0); n > 0; n-- {
		q, ok := r.zeros()
		if !ok || r.left() < uint(rice) || bits.Len64(q)+int(rice) > 64 {
			return dst, raw, errBlock
		}
		v := next + (q<<rice | r.read(uint(rice)))
		if v < next || v == 1<<64-1 && n > 1 {
			return dst, raw, errBlock
		}
		all = append(all, v)
		next = v + 1
	}
	if r.left() >= 8 {
		return dst, raw, errBlock
	}
	return all, raw, nil
}
