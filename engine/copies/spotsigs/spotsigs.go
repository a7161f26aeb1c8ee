// Package spotsigs makes spot signatures (Theobald, Siddharth and Paepcke, "SpotSigs: Robust and
// Efficient Near Duplicate Detection in Large Web Collections", SIGIR 2008). An antecedent is a word such as "the" or
// "is", frequent in natural text and rare in navigation. Each occurrence of an antecedent makes a signature, together
// with the content words after it:
//
//	At a rally to kick off a weeklong campaign for the South Carolina primary, Obama tried ...
//	   └ a:rally:kick:weeklong               └ a:weeklong:campaign:south   └ the:south:carolina:primary
//
// # Definition
//
// A signature with spot distance d and chain length c is an antecedent and the d-th, 2d-th, ... and cd-th content
// word after it. A content word is a word that is not a stop word. An antecedent without enough content words after
// it has no signature. The paper leaves three questions open. Here antecedents are stop words, so a chain never
// contains them. d and c count content words, not all tokens. The signatures of a text are a set. The
// authors' code keeps a bag; with a bag, a licence that was pasted twice is not a copy of the licence.
//
// Cost: one pass over the tokens, and c multiplications for a signature. A [Selector] belongs to one goroutine; [Lists]
// are safe for concurrent use.
package spotsigs

import (
	"cmp"
	"fmt"

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/corpus/token"
)

// Options define the signatures. The zero value is the default.
type Options struct {
	Lists    *Lists // default Wide
	Distance int    // 1 to 16; default 1
	Chain    int    // 1 to 16; default 2, or 3 with the lists of the paper
}

// Complete sets the defaults.
func (o *Options) Complete() {
	if o.Lists == nil {
		o.Lists = Wide
	}
	o.Distance = cmp.Or(o.Distance, 1)
	if o.Chain == 0 && o.Lists == Paper {
		o.Chain = 3
	}
	// On the development set chains of 2 lose fewer pairs than chains of 3, with the same number of wrong pairs.
	o.Chain = cmp.Or(o.Chain, 2)
}

// longest is the limit of the chain length and of the spot distance.
const longest = 16

// A Selector makes signatures. It implements [signature.TokenSelector], and its signatures are in order of the ends of
// their chains. It reuses its memory.
type Selector struct {
	lists           *Lists
	distance, chain int
	open            []spot // antecedents whose chains are incomplete
	words           []word // recent content words: all that the open antecedents need
	dropped         int    // number of content words before these
	yield           func(signature.Signature)
}

type word struct {
	hash uint64
	end  int32
}

type spot struct {
	hash  uint64
	start int32
	word  int // number of content words before it
}

// New returns a Selector, or an error that names the option out of range.
func New(o Options) (*Selector, error) {
	o.Complete()
	for name, v := range map[string]int{"spot distance": o.Distance, "chain length": o.Chain} {
		if v < 1 || v > longest {
			return nil, fmt.Errorf("%s %d: must be 1 to %d", name, v, longest)
		}
	}
	return &Selector{lists: o.Lists, distance: o.Distance, chain: o.Chain}, nil
}

// wordsMax is the approximate number of content words in memory; a chain needs at most 256. It also limits the number
// of consecutive antecedents without a content word between them.
const wordsMax = 4096

// Begin implements [signature.TokenSelector].
func (s *Selector) Begin(yield func(signature.Signature)) {
	s.yield, s.open, s.words, s.dropped = yield, s.open[:0], s.words[:0], 0
}

// End implements [signature.TokenSelector].
func (s *Selector) End() {}

// Take implements [signature.TokenSelector].
func (s *Selector) Take(batch []token.Token, hashes []uint64) {
	next := s.next()
	for i, hash := range hashes {
		t := &batch[i]
		switch s.lists.kinds[hash] {
		case antecedent:
			if n := len(s.open); n >= wordsMax && s.open[n-wordsMax].word == s.dropped+len(s.words) {
				continue // all of these have the same chain, and a text may repeat antecedents without end
			}
			s.open = append(s.open, spot{hash, int32(t.Start), s.dropped + len(s.words)})
			if len(s.open) == 1 {
				next = s.next()
			}
		case content:
			s.words = append(s.words, word{hash, int32(t.End)})
			if s.dropped+len(s.words) == next {
				s.close()
				next = s.next()
			}
		}
	}
	if len(s.words) > wordsMax {
		s.drop()
	}
}

// next returns the number of content words that completes the chain of the first open antecedent, or -1 if none is
// open.
func (s *Selector) next() int {
	if len(s.open) == 0 {
		return -1
	}
	return s.open[0].word + s.distance*s.chain
}

// close makes the signatures whose chains end with the last word. They belong to the first open antecedent and to
// antecedents that follow it without a content word between them.
func (s *Selector) close() {
	first := s.open[0].word
	h := uint64(0)
	for i := 1; i <= s.chain; i++ {
		h = signature.Fold(h, s.words[first-s.dropped+i*s.distance-1].hash)
	}
	end := s.words[len(s.words)-1].end
	n := 0
	for ; n < len(s.open) && s.open[n].word == first; n++ {
		s.yield(signature.Signature{Hash: signature.Fold(h, s.open[n].hash), Start: s.open[n].start, End: end})
	}
	s.open = s.open[:copy(s.open, s.open[n:])]
}

// drop removes the content words that no open antecedent needs.
func (s *Selector) drop() {
	n := len(s.words)
	if len(s.open) > 0 {
		n = s.open[0].word - s.dropped
	}
	s.words = s.words[:copy(s.words, s.words[n:])]
	s.dropped += n
}
