package simhash

import (
	"math"
	"math/bits"

	"example.org/ndd/asm"
	"example.org/ndd/engine/corpus/token"
)

// ballot is the simhash sketch. It counts the features of a text, and the features vote on the bits.
type ballot struct {
	recipe   *Recipe
	hasher   *token.Hasher
	idf      *idf // nil if there are no factors
	shingles shingler
	counts   [2]counter // counts of words and of characters
}

func newBallot(r *Recipe, hasher *token.Hasher, t *idf) *ballot {
	b := &ballot{recipe: r, hasher: hasher, idf: t}
	b.shingles = shingler{size: [2]int{token.Word: r.WordShingle, token.Char: r.CharShingle}, counts: &b.counts}
	return b
}

// begin starts a new text.
func (b *ballot) begin() {
	for k := range b.counts {
		b.counts[k].reset()
	}
	b.shingles.filled = 0
}

// push counts the features of some tokens.
func (b *ballot) push(tokens []token.Token) {
	for i := range tokens {
		if t := &tokens[i]; !t.Stop {
			b.shingles.push(b.hasher.Hash(t), t.Kind)
		}
	}
}

// sign ends the text. It returns its fingerprint and the number of its features. ok is false if there are too few.
func (b *ballot) sign() (fp Fingerprint, features int, ok bool) {
	b.shingles.endRun()
	words, chars := &b.counts[token.Word], &b.counts[token.Char]
	features = len(words.hashes) + len(chars.hashes)
	if features < b.recipe.MinFeatures {
		return 0, features, false
	}
	if features -= b.weigh(); features < b.recipe.MinFeatures {
		return 0, features, false
	}
	return elect(words, chars), features, true
}

// weigh turns the counts into weights, and returns how many of the weights are 0.
func (b *ballot) weigh() (zeros int) {
	weigh(b.counts[token.Word].times, b.recipe.WordWeights)
	weigh(b.counts[token.Char].times, b.recipe.CharWeights)
	if b.idf != nil {
		for k := range b.counts {
			zeros += b.idf.apply(b.counts[k].hashes, b.counts[k].times)
		}
	}
	return zeros
}

// appendFeatures ends the text and appends its features to dst.
func (b *ballot) appendFeatures(dst []Feature) []Feature {
	b.shingles.endRun()
	b.weigh()
	for k := range b.counts {
		c := &b.counts[k]
		for i, h := range c.hashes {
			if c.times[i] > 0 {
				dst = append(dst, Feature{h, c.times[i]})
			}
		}
	}
	return dst
}

// shingler turns a stream of token hashes into features. Each sequence of n tokens within a run is a feature. Words
// and characters form separate runs, each kind with its own n. A change of the kind ends the run. A run shorter than
// n is one feature, so that short texts and single foreign words are not lost.
type shingler struct {
	size   [2]int     // shingle length by kind
	kind   token.Kind // kind of the current run
	filled int        // number of tokens in the current run
	ring   [maxShingle]uint64
	counts *[2]counter // counters by kind
}

// push adds one token. Its hash must not be 0.
func (s *shingler) push(hash uint64, k token.Kind) {
	if k != s.kind {
		s.endRun()
		s.kind = k
	}
	n := s.size[k]
	if n == 1 {
		s.filled++
		s.counts[s.kind].add(hash)
		return
	}
	s.ring[s.filled%maxShingle] = hash
	s.filled++
	if s.filled >= n {
		s.counts[s.kind].add(s.fold(n))
	}
}

// endRun ends the run. It is also called at the end of the text.
func (s *shingler) endRun() {
	if s.filled > 0 && s.filled < s.size[s.kind] {
		s.counts[s.kind].add(s.fold(s.filled))
	}
	s.filled = 0
}

// fold returns one hash of the last n tokens, oldest first. This rule is part of recipe version 1:
//
//	fold(t1) = t1      fold(t1..tn) = token.Fold(fold(t1..tn-1), tn)
func (s *shingler) fold(n int) uint64 {
	h := s.ring[(s.filled-n)%maxShingle]
	for i := s.filled - n + 1; i < s.filled; i++ {
		h = token.Fold(h, s.ring[i%maxShingle])
	}
	return h
}

// weigh turns the counts of features into weights, in place. All weights are integers, so that every machine computes
// the same fingerprint. The common factor of 8 makes square roots more precise. It also gives words and characters a
// common scale if they use different weights.
func weigh(times []uint32, weights string) {
	switch weights {
	case WeightsTF:
		for i, t := range times {
			times[i] = weightOne * min(t, math.MaxUint32/weightOne)
		}
	case WeightsSqrtTF:
		for i, t := range times {
			times[i] = sqrtWeight(t)
		}
	case WeightsLogTF:
		for i, t := range times {
			times[i] = weightOne * uint32(bits.Len32(t))
		}
	case WeightsBinary:
		for i := range times {
			times[i] = weightOne
		}
	}
}

// weightOne is the weight of a feature that occurs once.
const weightOne = 8

// sqrtWeight returns floor(8 sqrt(t)). The argument of the root is below 2^38, so a float64 holds it exactly. IEEE
// 754 rounds square roots correctly on every machine.
func sqrtWeight(t uint32) uint32 {
	if t == 1 {
		return weightOne
	}
	return uint32(math.Sqrt(weightOne * weightOne * float64(t)))
}

// counter counts the features of one document. It is an open-addressing table with the hashes of features as keys.
// The hashes are random, so their top bits select the slot.
//
// The table is small at the start of each document, so that a short document always stays in the L1 cache. It doubles
// when it is half full.
type counter struct {
	slots  []counterSlot
	shift  uint     // 64 - log2 of the slots in use
	hashes []uint64 // distinct features in the order in which they first occur
	times  []uint32 // number of occurrences of each, saturating
}

type counterSlot struct {
	hash   uint64
	number uint32 // index into hashes and times, plus 1; 0 in a free slot
}

const (
	counterBitsMin  = 9       // 512 slots, 8 KiB
	counterSlotsMax = 1 << 20 // a larger table, made for a huge document, is freed after it: 16 MiB
)

// reset starts a new document.
func (c *counter) reset() {
	if len(c.slots) > counterSlotsMax {
		*c = counter{}
	}
	if c.slots == nil {
		c.slots = make([]counterSlot, 1<<counterBitsMin)
	} else {
		clear(c.slots[:1<<(64-c.shift)])
	}
	c.shift = 64 - counterBitsMin
	c.hashes, c.times = c.hashes[:0], c.times[:0]
}

// add counts one occurrence of a feature.
func (c *counter) add(hash uint64) {
	mask := uint64(1)<<(64-c.shift) - 1
	for i := hash >> c.shift; ; i = (i + 1) & mask {
		s := &c.slots[i]
		if s.number == 0 {
			c.hashes = append(c.hashes, hash)
			c.times = append(c.times, 1)
			*s = counterSlot{hash, uint32(len(c.hashes))}
			if uint64(len(c.hashes))*2 > mask {
				c.grow()
			}
			return
		}
		if s.hash == hash {
			if t := &c.times[s.number-1]; *t != math.MaxUint32 {
				*t++
			}
			return
		}
	}
}

// grow doubles the number of slots in use and moves the features to their new slots.
func (c *counter) grow() {
	c.shift--
	size := 1 << (64 - c.shift)
	if len(c.slots) < size {
		c.slots = make([]counterSlot, size)
	} else {
		clear(c.slots[:size])
	}
	mask := uint64(size) - 1
	for index, hash := range c.hashes {
		i := hash >> c.shift
		for c.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		c.slots[i] = counterSlot{hash, uint32(index + 1)}
	}
}

// elect is the core of simhash. It returns the fingerprint of the features of words and of characters, whose times
// now hold weights. Every hash votes with its weight on each of the 64 bits. A bit of the fingerprint is 1 if its
// ones have strictly more votes than its zeros. A tie gives 0, so the fingerprint without features is 0. The order of
// the features does not matter.
//
// A feature of weight 8 sqrt(t), t by Zipf's law, takes 1.5 ns with AVX-512 and 2.7 ns with AVX2;
// one of weight 65,536 or more makes asm.WeightedVotes take 14 ns for the 8,192 features around it.
func elect(words, chars *counter) Fingerprint {
	var ones [64]uint64 // weight of the hashes that have the bit set
	var total uint64    // total weight of all hashes
	for _, c := range [2]*counter{words, chars} {
		asm.WeightedVotes(&ones, c.hashes, c.times)
		for _, w := range c.times {
			total += uint64(w)
		}
	}
	return Fingerprint(asm.Majority(&ones, total))
}
