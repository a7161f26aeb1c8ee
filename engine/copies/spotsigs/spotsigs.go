// Package spotsigs makes spot signatures (Theobald, Siddharth and Paepcke, "SpotSigs: Robust and Efficient Near Duplicate
// Detection in Large Web Collections", SIGIR 2008): each occurrence of an antecedent, a word such as "the" or "is" that
// natural text is full of and navigation is not, with the content words that follow it.
//
//	At a rally to kick off a weeklong campaign for the South Carolina primary, Obama tried ...
//	   └ a:rally:kick:weeklong               └ a:weeklong:campaign:south   └ the:south:carolina:primary
//
// # Definition
//
// A signature of an antecedent with spot distance d and chain length c is the antecedent and the d-th, 2d-th, ... and
// c d-th content word behind it; a content word is one that is not a stop word. Where the text ends before the chain is whole there is
// no signature. The paper leaves three things open, which are settled so: antecedents are stop words themselves, so
// none is a link of a chain; d and c count content words, not all tokens; and a text's signatures are a set (its
// authors' code keeps a bag: then a licence that was pasted twice is no copy of one that stands once).
//
// Cost: one pass over the tokens; a chain is folded from the hashes of its words, so that a signature costs c
// multiplications. A [Selector] belongs to one goroutine; [Lists] are safe for many.
package spotsigs

import (
	"cmp"
	"fmt"

	"ndd/engine/copies/signature"
	"ndd/engine/corpus/token"
)

// Options say what a signature is. The zero value is the default: [Wide] lists, spot distance 1, chains of 3.
type Options struct {
	Lists    *Lists
	Distance int // 1 to 16; default 1
	Chain    int // 1 to 16; default 3
}

// Complete puts the defaults in.
func (o *Options) Complete() {
	if o.Lists == nil {
		o.Lists = Wide
	}
	o.Distance = cmp.Or(o.Distance, 1)
	o.Chain = cmp.Or(o.Chain, 3)
}

// A Selector makes signatures. It reuses its memory.
type Selector struct {
	lists           *Lists
	distance, chain int
	scanner         *token.Scanner
	hasher          *token.Hasher
	open            []spot   // antecedents whose chains are not whole
	words           []uint64 // hashes of the content words so far
	ends            []int32  // and where they end
	dst             []signature.Signature
}

// spot is an antecedent.
type spot struct {
	hash  uint64
	start int32
	word  int // content words before it
}

// New returns a Selector, or says which option is out of range.
func New(o Options) (*Selector, error) {
	o.Complete()
	for name, v := range map[string]int{"spot distance": o.Distance, "chain length": o.Chain} {
		if v < 1 || v > 16 {
			return nil, fmt.Errorf("%s %d: must be 1 to 16", name, v)
		}
	}
	scanner, err := token.NewScanner(token.Options{})
	if err != nil {
		return nil, err
	}
	return &Selector{lists: o.Lists, distance: o.Distance, chain: o.Chain, scanner: scanner,
		hasher: token.NewHasher(scanner, signature.Key)}, nil
}

// What the tag of a remembered word says.
const (
	unknown = iota
	content
	stop
	antecedent
)

// Append appends the signatures of a text to dst, in the order in which their chains end.
func (s *Selector) Append(dst []signature.Signature, text string) []signature.Signature {
	s.dst, s.open, s.words, s.ends = dst, s.open[:0], s.words[:0], s.ends[:0]
	s.scanner.Scan(text, func(batch []token.Token) {
		for i := range batch {
			s.token(&batch[i])
		}
	})
	return s.dst
}

// token takes one word.
func (s *Selector) token(t *token.Token) {
	slot := s.hasher.Slot(t)
	if slot.Tag == unknown {
		slot.Tag = s.lists.kind(slot.Hash)
	}
	switch slot.Tag {
	case antecedent:
		s.open = append(s.open, spot{slot.Hash, int32(t.Start), len(s.words)})
	case content:
		s.words = append(s.words, slot.Hash)
		s.ends = append(s.ends, int32(t.End))
		s.close()
	}
}

// close makes the signatures of the chains that the last word ends. Antecedents are in order, and so are their ends.
func (s *Selector) close() {
	n := 0
	for ; n < len(s.open) && s.open[n].word+s.distance*s.chain == len(s.words); n++ {
		a := &s.open[n]
		h := signature.Fold(0, a.hash)
		for i := 1; i <= s.chain; i++ {
			h = signature.Fold(h, s.words[a.word+i*s.distance-1])
		}
		s.dst = append(s.dst, signature.Signature{Hash: h, Start: a.start, End: s.ends[len(s.ends)-1]})
	}
	if n > 0 {
		s.open = s.open[:copy(s.open, s.open[n:])]
	}
}
