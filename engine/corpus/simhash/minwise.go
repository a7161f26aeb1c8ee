package simhash

import (
	"math/bits"
	"slices"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/corpus/token"
)

// minwise is the minwise sketch. It combines one permutation hashing (Li, Owen, Zhang, NIPS 2012), optimal
// densification (Shrivastava, ICML 2017) and one bit for each bin (Li, König, WWW 2010). The package comment defines
// it. A feature of weight w counts like w features: its rank takes the place of the smallest of w ranks.
//
// Let J be the share of shared features of two texts among all their features, by weight. In a bin, the texts have
// the same winner with probability J. Otherwise their bits are equal by chance. So a bit flips with probability (1 -
// J)/2.
//
// # Cost
//
// A minwise has no counts, no floats and 512 bytes of state. A feature costs two or three multiplications and a
// comparison that rarely changes the winner: after n features in a bin, the next one wins with probability 1/n.
type minwise struct {
	key     token.Key
	weight  [2]divisor    // divisors of tokens, by kind
	pair    [2][2]divisor // divisors of pairs, by the kinds of both tokens; 0: no feature
	binsMin int           // minimum number of bins with a feature
	winner  [bins]uint64
	last    uint64     // hash of the previous token, or 0
	kind    token.Kind // kind of the previous token
	hashes  []uint64   // hashes of a batch of tokens

	special bool              // features must wait, because idf or collect is not nil
	pending []pendingFeature  // waiting features of a batch of tokens
	idf     *idf              // factors of weights
	collect map[uint64]uint32 // receives each feature and its weight; nil if not needed
}

// A pendingFeature has a weight that idf may change.
type pendingFeature struct {
	hash    uint64
	divisor divisor
}

// A divisor represents a weight. It is 2^59 divided by the weight, rounded up, and rank multiplies by it.
type divisor uint64

// divisorOf returns the divisor of a weight, or 0 for 0.
func divisorOf(weight int) divisor {
	if weight == 0 {
		return 0
	}
	return divisor((1<<59 + uint64(weight) - 1) / uint64(weight))
}

// weight returns the weight of a divisor. It is the inverse of divisorOf.
func (d divisor) weight() uint32 { return uint32((1<<59 + uint64(d) - 1) / uint64(d)) }

// rank returns the rank of a feature: the low 58 bits of its hash, multiplied by the divisor and divided by 2^59.
func (d divisor) rank(hash uint64) uint64 {
	high, _ := bits.Mul64(hash<<6>>1, uint64(d))
	return high
}

// noWinner is the rank of a bin without a feature. Real ranks have only 58 bits.
const noWinner = ^uint64(0)

func newMinwise(r *Recipe, key token.Key, t *idf) *minwise {
	char, charPair := divisorOf(r.CharWeight), divisorOf(r.CharPairWeight)
	return &minwise{key: key, binsMin: r.MinBins, idf: t, special: t != nil,
		weight: [2]divisor{token.Word: divisorOf(r.WordWeight), token.Char: char},
		pair:   [2][2]divisor{token.Word: {divisorOf(r.WordPairWeight), charPair}, token.Char: {charPair, charPair}}}
}

// begin starts a new text.
func (m *minwise) begin() {
	for i := range m.winner {
		m.winner[i] = noWinner
	}
	m.last = 0
}

// push adds the next tokens of the text, and gives them to the sketcher k unless it is nil.
func (m *minwise) push(s *token.Scanner, tokens []token.Token, k *sketch.Sketcher) {
	last, previousKind := m.last, m.kind
	m.hashes = slices.Grow(m.hashes[:0], len(tokens))[:len(tokens)]
	for i := range tokens {
		t := &tokens[i]
		if t.Stop {
			continue
		}
		h := m.key.Hash(s, t)
		m.hashes[i] = h
		m.add(h, m.weight[t.Kind])
		if d := m.pair[previousKind][t.Kind]; d != 0 && last != 0 {
			m.add(token.Fold(last, h), d)
		}
		last, previousKind = h, t.Kind
	}
	m.last, m.kind = last, previousKind
	m.weighAll()
	if k != nil {
		k.Take(s, tokens, m.hashes)
	}
}

// add adds a feature to its bin, or lets it wait for weighAll.
func (m *minwise) add(hash uint64, d divisor) {
	if m.special {
		m.pending = append(m.pending, pendingFeature{hash, d})
		return
	}
	w := &m.winner[hash>>58]
	*w = min(*w, d.rank(hash)) // without a branch, because about one of six would be mispredicted
}

// weighAll multiplies the weights of waiting features by their factors in hundredths. It adds the features whose
// weight is not 0 to their bins and to collect.
func (m *minwise) weighAll() {
	for _, f := range m.pending {
		if m.idf != nil {
			f.divisor = divisorOf(int(f.divisor.weight()) * int(m.idf.factor(f.hash)))
		}
		if f.divisor == 0 {
			continue
		}
		w := &m.winner[f.hash>>58]
		*w = min(*w, f.divisor.rank(f.hash))
		if m.collect != nil {
			m.collect[f.hash] = f.divisor.weight()
		}
	}
	m.pending = m.pending[:0]
}

// sign returns the fingerprint and the number of bins that have a feature. ok is false if there are too few.
func (m *minwise) sign() (fp Fingerprint, filled int, ok bool) {
	for _, w := range m.winner {
		if w != noWinner {
			filled++
		}
	}
	if filled < m.binsMin {
		return 0, filled, false
	}
	return signed(&m.winner), filled, true
}

// signed returns the fingerprint for the winners of all bins. At least one bin must have a winner.
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
