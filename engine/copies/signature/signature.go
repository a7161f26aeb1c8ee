// Package signature defines the features that the methods of copy detection make of texts, and sets of them.
//
//	text ──► Selector (spotsigs, ccdet, winnow) ──► signatures, in order ──► Gatherer ──► set: hashes, ascending, each once
//
// Spotsigs and winnow select from tokens: a [Reader] reads the tokens of a text once for several of them. Ccdet reads
// the text itself.
//
// Hashes have 64 bits. In a corpus of n features two different ones have the same hash with probability n^2/2^65, or
// 3e-4 for 1e8 features. One wrongly shared feature changes a similarity by the share of one feature.
package signature

import (
	"context"
	"slices"

	"example.org/ndd/engine/corpus/token"
)

// A Signature is one feature of a text.
type Signature struct {
	Hash       uint64
	Start, End int32 // byte range in the text
}

// Key hashes the tokens that signatures are made of. Its 32 bytes are 00 to 1f, as for minwise in package simhash. It
// is not secret: signatures from different machines must be comparable.
var Key = token.NewKey(keyBytes)

var keyBytes = [32]byte{
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
}

// Fold returns the hash of a sequence of tokens. Argument h is the hash of the tokens before the last one, initially 0.
// Argument token is the hash of the last token. Modulo 2^64 the result is
//
//	h = (h ^ token) * 9e3779b97f4a7c15;  h ^= h >> 33;  h *= ff51afd7ed558ccd;  h ^= h >> 33
func Fold(h, token uint64) uint64 {
	h = (h ^ token) * 0x9e3779b97f4a7c15
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return h
}

// A Selector makes the signatures of texts by one method. It belongs to one goroutine.
type Selector interface {
	// Each calls yield with the signatures of a text, in order.
	Each(text string, yield func(Signature))
}

// Append appends the signatures of a text to dst.
func Append(dst []Signature, s Selector, text string) []Signature {
	s.Each(text, func(x Signature) { dst = append(dst, x) })
	return dst
}

// A TokenSelector makes signatures from the tokens of a text.
type TokenSelector interface {
	Begin(yield func(Signature))                // starts a text
	Take(tokens []token.Token, hashes []uint64) // gets the next tokens, and their hashes by Key
	End()                                       // ends the text
}

// A Reader reads the tokens of texts. It belongs to one goroutine.
type Reader struct {
	scanner *token.Scanner
	hashes  []uint64
}

// NewReader returns a Reader. When ctx is done, Read ends early, and the signatures are not valid.
func NewReader(ctx context.Context) *Reader {
	scanner, err := token.NewScanner(token.Options{})
	if err != nil {
		panic(err) // only an unknown list of stop words is an error
	}
	scanner.Until(ctx)
	return &Reader{scanner: scanner}
}

// Read gives the tokens of a text to selectors whose Begin was called, and then calls their End.
func (r *Reader) Read(text string, selectors ...TokenSelector) {
	r.scanner.Scan(text, func(batch []token.Token) {
		r.hashes = r.hashes[:0]
		for i := range batch {
			r.hashes = append(r.hashes, Key.Hash(r.scanner, &batch[i]))
		}
		for _, s := range selectors {
			s.Take(batch, r.hashes)
		}
	})
	for _, s := range selectors {
		s.End()
	}
}

// Selector returns the Selector that reads each text for a TokenSelector.
func (r *Reader) Selector(s TokenSelector) Selector { return tokenReader{r, s} }

type tokenReader struct {
	reader   *Reader
	selector TokenSelector
}

func (t tokenReader) Each(text string, yield func(Signature)) {
	t.selector.Begin(yield)
	t.reader.Read(text, t.selector)
}

// A Gatherer makes the set of the signatures of a text. When its memory is full it removes repeated hashes, so it holds
// at most three times the set of a long text. It reuses its memory.
type Gatherer struct {
	// Bag counts each occurrence of a signature. Occurrence n > 1 has the hash Fold(hash, n), so two sets share as many
	// hashes as the bags share occurrences.
	Bag bool

	hashes  []uint64
	last    int32 // end of the last signature
	covered int   // bytes of the text near a signature
}

// reach is the maximum number of bytes that a signature covers: those before its end, or the last ones of the text.
const reach = 256

// Sizes of a Gatherer's memory, in hashes.
const (
	initialRoom = 1 << 12
	keptRoom    = 1 << 16 // maximum that is reused for the next text
)

// Add adds a signature.
func (g *Gatherer) Add(s Signature) {
	if len(g.hashes) == cap(g.hashes) {
		g.makeRoom()
	}
	g.hashes = append(g.hashes, s.Hash)
	g.covered += min(max(int(s.End-g.last), 0), reach)
	g.last = max(g.last, s.End)
}

// Covered returns the share of a text of some bytes that the signatures cover, in percent. [Gatherer.Set] begins a new
// text.
func (g *Gatherer) Covered(bytes int) uint8 {
	return uint8(100 * (g.covered + min(bytes-int(g.last), reach)) / max(bytes, 1))
}

// makeRoom removes repeated hashes. It doubles the memory if more than half of it remains in use.
func (g *Gatherer) makeRoom() {
	if !g.Bag {
		slices.Sort(g.hashes)
		g.hashes = slices.Compact(g.hashes)
	}
	if n := len(g.hashes); n >= cap(g.hashes)/2 {
		g.hashes = slices.Grow(g.hashes, max(2*n, initialRoom)-n)
	}
}

// Set returns the set, ascending, and empties the Gatherer.
func (g *Gatherer) Set() []uint64 {
	set := g.hashes
	g.last, g.covered = 0, 0
	slices.Sort(set)
	if g.Bag {
		numberRepeats(set)
	}
	set = slices.Compact(set)
	if cap(set) <= keptRoom {
		g.hashes = set[:0]
		return slices.Clone(set)
	}
	g.hashes = nil
	return set
}

// numberRepeats gives the repeats in sorted hashes the hashes that [Gatherer.Bag] describes, and sorts again.
func numberRepeats(hashes []uint64) {
	last, n := uint64(0), uint64(0)
	for i, hash := range hashes {
		if i == 0 || hash != last {
			last, n = hash, 0
		}
		if n++; n > 1 {
			hashes[i] = Fold(hash, n)
		}
	}
	slices.Sort(hashes)
}
