package simhash

import (
	"math/bits"

	"ndd/engine/corpus/token"
)

// bins is the number of bins of the minwise sketch, one for each bit of the fingerprint.
const bins = 64

// minwise is the minwise sketch: one permutation hashing (Li, Owen, Zhang, NIPS 2012), optimal
// densification (Shrivastava, ICML 2017), one bit of each bin (Li, König, WWW 2010). The package
// comment defines it. A feature of weight w is as w features: its rank is the least of w ranks.
//
// Two texts of which the features shared are a share J of all, by weight, have the same winner in a
// bin with probability J, and otherwise equal bits by chance: a bit flips with probability (1 -
// J)/2.
//
// # Cost
//
// No counts, no floats, 512 bytes of state. A feature costs two or three multiplications and a
// comparison that nearly always says no: after n features in a bin the next one wins with
// probability 1/n.
type minwise struct {
	key    token.Key
	shift  [2]uint8 // log2 of the weight of a token, by kind
	pair   [2]uint8 // log2 of the weight of a pair: of characters, of words
	takes  [2]bool  // whether pairs are features: of characters, of words
	least  int      // filled bins
	winner [bins]uint64
	last   uint64     // hash of the token before; 0 for none
	kind   token.Kind // and its kind

	collect map[uint64]uint32 // if not nil, is told each feature and its weight
}

// noWinner is the rank of a bin that has no feature; ranks have 58 bits.
const noWinner = ^uint64(0)

func newMinwise(r *Recipe, key *[32]byte) *minwise {
	log := func(weight int) uint8 { return uint8(bits.TrailingZeros(uint(max(weight, 1)))) }
	return &minwise{
		key:   token.NewKey(*key),
		shift: [2]uint8{token.Word: log(r.WordWeight), token.Char: log(r.CharWeight)},
		pair:  [2]uint8{log(r.CharPairWeight), log(r.WordPairWeight)},
		takes: [2]bool{r.CharPairWeight > 0, r.WordPairWeight > 0},
		least: r.MinBins,
	}
}

// begin forgets the last text.
func (m *minwise) begin() {
	for i := range m.winner {
		m.winner[i] = noWinner
	}
	m.last = 0
}

// push takes some tokens of the text.
func (m *minwise) push(s *token.Scanner, tokens []token.Token) {
	last, kind := m.last, m.kind
	for i := range tokens {
		t := &tokens[i]
		if t.Stop {
			continue
		}
		h := m.key.Hash(s, t)
		m.add(h, m.shift[t.Kind&1])
		words := 0
		if kind|t.Kind == token.Word {
			words = 1
		}
		if m.takes[words] && last != 0 {
			m.add(token.Fold(last, h), m.pair[words])
		}
		last, kind = h, t.Kind
	}
	m.last, m.kind = last, kind
}

// add lets a feature compete in its bin.
func (m *minwise) add(hash uint64, shift uint8) {
	if m.collect != nil {
		m.collect[hash] = 1 << shift
	}
	w := &m.winner[hash>>58]
	*w = min(*w, hash<<6>>6>>(shift&63)) // without a branch, which each sixth or so would mispredict
}

// sign returns the fingerprint and the number of bins that were filled; with too few of these ok is
// false.
func (m *minwise) sign() (fp Fingerprint, filled int, ok bool) {
	if filled = m.filled(); filled < m.least {
		return 0, filled, false
	}
	return signed(&m.winner), filled, true
}

// filled returns the number of bins that have a feature.
func (m *minwise) filled() (n int) {
	for _, w := range m.winner {
		if w != noWinner {
			n++
		}
	}
	return n
}

// signed returns the fingerprint of winners, one at least.
func signed(winner *[bins]uint64) (fp Fingerprint) {
	for j := range winner {
		w := winner[j]
		for t := uint64(1); w == noWinner; t++ {
			w = winner[token.Mix(bins*t+uint64(j))>>58]
		}
		fp |= Fingerprint(w*multipliers[j]>>63) << j
	}
	return fp
}

// multipliers turn winners into bits.
var multipliers = func() (m [bins]uint64) {
	for j := range m {
		m[j] = token.Mix(uint64(j)) | 1
	}
	return m
}()
