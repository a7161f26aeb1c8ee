package succinct

import "math/bits"

// onesPerSample is the distance between samples: 1/8 bit for each one.
const onesPerSample = 512

// Ones finds the j-th one of a bit vector, counted from 0. Bit i is bit i%64
// of Words[i/64]; Samples[s] is the position of one number s*512.
type Ones struct {
	Words   []uint64
	Samples []uint64
}

// NewOnes samples words.
func NewOnes(words []uint64) Ones {
	var samples []uint64
	next, seen := 0, 0
	for i, w := range words {
		n := bits.OnesCount64(w)
		for next < seen+n {
			samples = append(samples, uint64(i*64+selectWord(w, next-seen)))
			next += onesPerSample
		}
		seen += n
	}
	return Ones{words, samples}
}

// Select is the position of one number j. There must be more than j ones; ok
// is false where the samples or the words say otherwise, as hostile files may.
func (o Ones) Select(j uint64) (position uint64, ok bool) {
	s := j / onesPerSample
	if s >= uint64(len(o.Samples)) {
		return 0, false
	}
	left := int(j % onesPerSample)
	at := o.Samples[s]
	if at/64 >= uint64(len(o.Words)) {
		return 0, false
	}
	w := o.Words[at/64] &^ (1<<(at%64) - 1)
	for i := at / 64; ; w = o.Words[i] {
		n := bits.OnesCount64(w)
		if left < n {
			return i*64 + uint64(selectWord(w, left)), true
		}
		left -= n
		if i++; i == uint64(len(o.Words)) {
			return 0, false
		}
	}
}

// Next is the position of the first one after position, or the number of bits.
func (o Ones) Next(position uint64) uint64 {
	position++
	i := position / 64
	if i >= uint64(len(o.Words)) {
		return uint64(len(o.Words)) * 64
	}
	w := o.Words[i] &^ (1<<(position%64) - 1)
	for w == 0 {
		if i++; i == uint64(len(o.Words)) {
			return i * 64
		}
		w = o.Words[i]
	}
	return i*64 + uint64(bits.TrailingZeros64(w))
}

// selectWord is the position of one number j of w: bytes first, then bits.
func selectWord(w uint64, j int) int {
	at := 0
	for {
		n := bits.OnesCount8(uint8(w))
		if j < n {
			break
		}
		j -= n
		w >>= 8
		at += 8
	}
	for ; j > 0; j-- {
		w &= w - 1
	}
	return at + bits.TrailingZeros64(w)
}
