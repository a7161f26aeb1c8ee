package simhash

import (
	"slices"
	"strings"

	"example.org/ndd/engine/corpus/token"
)

// A Feature is a distinct feature of a text.
type Feature struct {
	Hash   uint64
	Weight uint32
}

// A NamedFeature is a feature with the tokens that it is made of.
type NamedFeature struct {
	Feature
	Text string // tokens with spaces between them, as in tables of factors
}

// An Explanation shows how a text becomes a fingerprint.
type Explanation struct {
	Fingerprint Fingerprint // 0 if not OK
	OK          bool        // the text has enough features
	Filled      int         // see [Fingerprinter.Fingerprint]
	Features    []NamedFeature
	Bits        [64]BitOrigin // from bit 0, the least significant; zero if there are no features
}

// A BitOrigin shows how a bit was computed.
type BitOrigin struct {
	Sum     int64  // simhash: weight of the features whose hashes have the bit set, less the weight of the others
	Bin     int    // minwise: bin of the bit, or the bin from which it borrows
	Feature int    // minwise: index of the feature with the smallest rank in the bin
	Rank    uint64 // minwise: rank of this feature
}

// NamedFeatures returns the distinct features of a text in the order in which they first occur.
func (f *Fingerprinter) NamedFeatures(text string) []NamedFeature {
	weights := map[uint64]uint32{}
	for _, feature := range f.AppendFeatures(nil, text) {
		weights[feature.Hash] = feature.Weight
	}
	var features []NamedFeature
	var last []string // last tokens, up to the maximum length of a feature
	f.scanner.Scan(text, func(tokens []token.Token) {
		for i := range tokens {
			if tokens[i].Stop {
				continue
			}
			if len(last) == f.recipe.longest() {
				last = slices.Delete(last, 0, 1)
			}
			last = append(last, string(f.scanner.AppendText(nil, &tokens[i])))
			for from := len(last) - 1; from >= 0; from-- {
				h := hashTokens(last[from:], f.hash)
				if w, isNew := weights[h]; isNew {
					delete(weights, h)
					features = append(features, NamedFeature{Feature{h, w}, strings.Join(last[from:], " ")})
				}
			}
		}
	})
	return features
}

// Explain shows how a text becomes its fingerprint. It takes some microseconds a feature.
func (f *Fingerprinter) Explain(text string) Explanation {
	e := Explanation{Features: f.NamedFeatures(text)}
	e.Fingerprint, e.Filled, e.OK = f.Fingerprint(text)
	if len(e.Features) == 0 {
		return e
	}
	if f.recipe.Sketch == SketchMinwise {
		e.minima()
		return e
	}
	for j := range e.Bits {
		for _, feature := range e.Features {
			e.Bits[j].Sum += (2*int64(feature.Hash>>j&1) - 1) * int64(feature.Weight)
		}
	}
	return e
}

// minima finds the feature with the smallest rank in each bin, and lets empty bins borrow.
func (e *Explanation) minima() {
	var filled [bins]bool
	for i, feature := range e.Features {
		bin, rank := feature.Hash>>58, divisorOf(int(feature.Weight)).rank(feature.Hash)
		if b := &e.Bits[bin]; !filled[bin] || rank < b.Rank {
			filled[bin], *b = true, BitOrigin{Bin: int(bin), Feature: i, Rank: rank}
		}
	}
	for j := range e.Bits {
		bin := uint64(j)
		for t := uint64(1); !filled[bin]; t++ {
			bin = token.Mix(bins*t+uint64(j)) >> 58
		}
		e.Bits[j] = e.Bits[bin]
	}
}

// Bit returns bit j of the fingerprint, computed from its origin.
func (b *BitOrigin) Bit(j int, r *Recipe) uint64 {
	if r.Sketch == SketchMinwise {
		return b.Rank * multipliers[j] >> 63
	}
	if b.Sum > 0 {
		return 1
	}
	return 0
}
