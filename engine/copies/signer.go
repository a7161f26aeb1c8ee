package copies

import (
	"context"

	"example.org/ndd/engine/copies/ccdet"
	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/copies/spotsigs"
	"example.org/ndd/engine/copies/winnow"
)

// A Signer makes the signatures of texts. It belongs to one goroutine.
type Signer struct {
	ctx       context.Context
	o         Options
	reader    *signature.Reader
	spots     *spotsigs.Selector
	tokens    map[Method]signature.TokenSelector
	sentences *ccdet.Selector
	own       signature.Gatherer
	winnowed  signature.Gatherer
}

// NewSigner returns a Signer, or an error that names the option out of range. When ctx is done, Sign
// returns early with invalid sets.
func NewSigner(ctx context.Context, o Options) (s *Signer, err error) {
	o.complete()
	if err := o.check(); err != nil {
		return nil, err
	}
	s = &Signer{ctx: ctx, o: o, reader: signature.NewReader(ctx), own: signature.Gatherer{Bag: o.Bags},
		winnowed: signature.Gatherer{Bag: o.Bags}}
	if s.spots, err = spotsigs.New(o.SpotSigs); err != nil {
		return nil, err
	}
	if s.sentences, err = ccdet.New(ctx, o.Ends); err != nil {
		return nil, err
	}
	s.tokens = map[Method]signature.TokenSelector{SpotSigs: s.spots, Winnow: winnow.New(),
		Shingles: winnow.NewAll(shingleWords, shingleChars)}
	return s, nil
}

// Sign returns the sets of a text. They belong to the caller.
func (s *Signer) Sign(text string) Sets {
	sets := Sets{Method: s.o.Method}
	if sets.Method != Auto {
		sets.Own, sets.Covered = s.set(sets.Method, text)
		return sets
	}
	sets.Method = methodOf(text)
	if own, ok := s.tokens[sets.Method]; ok { // both sets in one pass
		winnow := s.tokens[Winnow]
		own.Begin(s.own.Add)
		winnow.Begin(s.winnowed.Add)
		s.reader.Read(text, own, winnow)
		sets.Covered = s.own.Covered(len(text))
		sets.Own, sets.Winnow = s.own.Set(), s.winnowed.Set()
	} else {
		sets.Own, sets.Covered = s.set(sets.Method, text)
		sets.Winnow, _ = s.set(Winnow, text)
	}
	if s.o.needsShingles(&sets) {
		sets.Shingles, _ = s.set(Shingles, text)
	}
	return sets
}

// set returns the set of a text by a method, and the share of the text that it covers, in percent.
func (s *Signer) set(m Method, text string) (set []uint64, covered uint8) {
	s.selector(m).Each(text, s.own.Add)
	covered = s.own.Covered(len(text))
	return s.own.Set(), covered
}

func (s *Signer) selector(m Method) signature.Selector {
	if m == CCDet {
		return s.sentences
	}
	return s.reader.Selector(s.tokens[m])
}
