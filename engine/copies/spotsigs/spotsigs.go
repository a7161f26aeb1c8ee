// Package spotsigs makes spot signatures (Theobald, Siddharth and Paepcke, "SpotSigs: Robust and
// Efficient Near Duplicate Detection in Large Web Collections", SIGIR 2008): each occurrence of an
// antecedent, a word such as "the" or "is" that natural text is full of and navigation is not, with
// the content words that follow it.
//
//	At a rally to kick off a weeklong campaign for the South Carolina primary, Obama tried ...
//	   └ a:rally:kick:weeklong               └ a:weeklong:campaign:south   └ the:south:carolina:primary
//
// # Definition
//
// A signature of an antecedent with spot distance d and chain length c is the antecedent and the
// d-th, 2d-th, ... and c d-th content word behind it; a content word is one that is not a stop
// word. Where the text ends before the chain is whole there is no signature. The paper leaves three
// things open, which are settled so: antecedents are stop words themselves, so none is a link of a
// chain; d and c count content words, not all tokens; and a text's signatures are a set (its
// authors' code keeps a bag: then a licence that was pasted twice is no copy of one that stands
// once).
//
// Cost: one pass over the tokens; a chain is folded from the hashes of its words, so that a
// signature costs c multiplications. A [Selector] belongs to one goroutine; [Lists] are safe for
// many.
package spotsigs

import (
	"cmp"
	"context"
	"fmt"

	"ndd/engine/copies/signature"
	"ndd/engine/corpus/token"
)

// Options say what a signature is. The zero value is the default: [Wide] lists, spot distance 1,
// chains of 2; with [Paper]'s lists chains are 3 long, as in the paper.
type Options struct {
	Lists    *Lists
	Distance int // 1 to 16; default 1
	Chain    int // 1 to 16; default 2, of Paper's lists 3
}

// Complete puts the defaults in.
func (o *Options) Complete() {
	if o.Lists == nil {
		o.Lists = Wide
	}
	o.Distance = cmp.Or(o.Distance, 1)
	if o.Chain == 0 && o.Lists == Paper {
		o.Chain = 3
	}
	o.Chain = cmp.Or(o.Chain, 2) // these lose fewer pairs of the development set than 3, with as many false ones
}

// Longest is the longest chain and the greatest spot distance.
const Longest = 16

// A Selector makes signatures. It reuses its memory.
type Selector struct {
	lists           *Lists
	distance, chain int
	reader          *signature.Reader
	open            []spot // antecedents whose chains are not whole
	words           []word // the content words so far, less those that no antecedent needs any more
	dropped         int    // these
	yield           func(signature.Signature)
}

type word struct {
	hash uint64
	end  int32
}

type spot struct {
	hash  uint64
	start int32
	word  int // content words before it
}

// New returns a Selector, or says which option is out of range.
func New(ctx context.Context, o Options) (*Selector, error) {
	o.Complete()
	for name, v := range map[string]int{"spot distance": o.Distance, "chain length": o.Chain} {
		if v < 1 || v > Longest {
			return nil, fmt.Errorf("%s %d: must be 1 to %d", name, v, Longest)
		}
	}
	return &Selector{lists: o.Lists, distance: o.Distance, chain: o.Chain, reader: signature.NewReader(ctx)}, nil
}

// What a word is.
const (
	content = iota
	stop
	antecedent
)

// wordsMost is how many content words are held, about: more than an antecedent can be away from the
// end of its chain. It is also how many antecedents without a content word between them count.
const wordsMost = 4096

// Each implements [signature.Selector]. Signatures come in the order in which their chains end.
func (s *Selector) Each(text string, yield func(signature.Signature)) {
	s.Begin(yield)
	s.reader.Read(text, s)
}

// Begin implements [signature.Part], as do Take and End.
func (s *Selector) Begin(yield func(signature.Signature)) {
	s.yield, s.open, s.words, s.dropped = yield, s.open[:0], s.words[:0], 0
}

// End ends a text.
func (s *Selector) End() {}

// Take takes some words.
func (s *Selector) Take(batch []token.Token, hashes []uint64) {
	next := s.next()
	for i, hash := range hashes {
		t := &batch[i]
		switch s.lists.kinds[hash] {
		case antecedent:
			if n := len(s.open); n >= wordsMost && s.open[n-wordsMost].word == s.dropped+len(s.words) {
				continue // the last ones have the same chain, and there is no end of them
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
	if len(s.words) > wordsMost {
		s.drop()
	}
}

// next returns the number of content words with which the chain of the first antecedent is whole,
// -1 where there is none.
func (s *Selector) next() int {
	if len(s.open) == 0 {
		return -1
	}
	return s.open[0].word + s.distance*s.chain
}

// close makes the signatures of the chains that the last word ends: those of the first antecedent,
// and of others that have no content word between them and it, whose chains are the same.
// Antecedents are in order, and so are their ends.
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

// drop drops the content words that no chain needs any more.
func (s *Selector) drop() {
	n := len(s.words)
	if len(s.open) > 0 {
		n = s.open[0].word - s.dropped
	}
	s.words = s.words[:copy(s.words, s.words[n:])]
	s.dropped += n
}
