package succinct

import (
	"math/bits"

	"example.org/ndd/asm"
)

// onesPerSample is the distance between samples. It costs 1/8 bit per one.
const onesPerSample = 512

// Ones finds the j-th one of a bit vector, counted from 0. Bit i is bit i%64 of Words[i/64]. Samples[s] is the
// position of the one with number s*512.
type Ones struct {
	Words   []uint64
	Samples []uint64
}

// OnesBytes returns the size of the words and samples of a vector with that many bits and ones.
func OnesBytes(bits, ones uint64) uint64 {
	return 8 * (WordsFor(bits, 1) + (ones+onesPerSample-1)/onesPerSample)
}

// NewOnes returns the ones of words, with samples of their positions.
func NewOnes(words []uint64) Ones {
	var samples []uint64
	next, count := 0, 0
	for i, w := range words {
		n := bits.OnesCount64(w)
		for next < count+n {
			samples = append(samples, uint64(i*64+asm.SelectBit(w, next-count)))
			next += onesPerSample
		}
		count += n
	}
	return Ones{words, samples}
}

// Select returns the position of the one with number j. The vector must have more than j ones. ok is false if the
// samples or the words contradict this, as in hostile files.
func (o Ones) Select(j uint64) (position uint64, ok bool) {
	s := j / onesPerSample
	if s >= uint64(len(o.Samples)) {
		return 0, false
	}
	remaining := int(j % onesPerSample)
	sample := o.Samples[s]
	if sample/64 >= uint64(len(o.Words)) {
		return 0, false
	}
	w := o.Words[sample/64] &^ (1<<(sample%64) - 1)
	for i := sample / 64; ; w = o.Words[i] {
		n := bits.OnesCount64(w)
		if remaining < n {
			return i*64 + uint64(asm.SelectBit(w, remaining)), true
		}
		remaining -= n
		if i++; i == uint64(len(o.Words)) {
			return 0, false
		}
	}
}

// Prefetch prefetches the cache lines that Select reads for each of js. It overwrites scratch, which must have the
// length of js.
func (o Ones) Prefetch(js, scratch []uint64) {
	for i, j := range js {
		scratch[i] = j / onesPerSample
	}
	asm.PrefetchAt(o.Samples, scratch)
	for i, s := range scratch {
		scratch[i] = uint64(len(o.Words))
		if s < uint64(len(o.Samples)) {
			scratch[i] = o.Samples[s] / 64
		}
	}
	asm.PrefetchAt(o.Words, scratch)
	for i, j := range js { // end of the search, if most bits are ones
		scratch[i] += j % onesPerSample / 64
	}
	asm.PrefetchAt(o.Words, scratch)
}

// Next returns the position of the first one after position, or the number of bits.
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
