// Package signature is what the methods of copy detection have in common: a feature of a text as a
// hash with its place, and the set of a text's features.
//
//	text ──► Selector: spotsigs, ccdet, winnow ──► signatures, in order ──► Set: hashes, ascending, each once
//
// Hashes have 64 bits: two different features of a corpus of n features have one hash with a chance
// of n^2/2^65, 3e-4 for 1e8 features, and a shared feature more or less moves a similarity by one
// of its size.
package signature

import (
	"context"
	"slices"

	"ndd/engine/corpus/token"
)

// A Signature is one feature of a text.
type Signature struct {
	Hash       uint64
	Start, End int32 // bytes of the text that it was made of
}

// Key makes the hashes of tokens that signatures are folded of, as package simhash defines them for
// minwise, of the bytes 00 to 1f. It is no secret: signatures made anywhere must be comparable.
var Key = token.NewKey(keyBytes)

var keyBytes = [32]byte{
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
}

// Fold returns the hash of a sequence of tokens: h is the hash of all but the last, 0 at first, and
// token that of the last. With multiplication modulo 2^64 it is
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

// Append appends the signatures that a Selector makes of a text.
func Append(dst []Signature, s Selector, text string) []Signature {
	s.Each(text, func(x Signature) { dst = append(dst, x) })
	return dst
}

// A Part is a Selector of tokens, several of which may take those of one pass over a text.
type Part interface {
	Begin(yield func(Signature))
	Take(tokens []token.Token, hashes []uint64) // by Key
	End()
}

// A Reader reads the tokens of texts. It belongs to one goroutine.
type Reader struct {
	scanner *token.Scanner
	hashes  []uint64
}

// NewReader returns a Reader that ends early when a context is done: what the parts then have means nothing.
func NewReader(ctx context.Context) *Reader {
	scanner, err := token.NewScanner(token.Options{})
	if err != nil {
		panic(err) // of a list of stop words, and there is none
	}
	scanner.Until(ctx)
	return &Reader{scanner: scanner}
}

// Read has parts take the tokens of a text that begins and ends with Begin and End of each.
func (r *Reader) Read(text string, parts ...Part) {
	r.scanner.Scan(text, func(batch []token.Token) {
		r.hashes = r.hashes[:0]
		for i := range batch {
			r.hashes = append(r.hashes, Key.Hash(r.scanner, &batch[i]))
		}
		for _, p := range parts {
			p.Take(batch, r.hashes)
		}
	})
	for _, p := range parts {
		p.End()
	}
}

// A Gatherer makes the set of the signatures of a text. It drops those that occur again whenever it
// is full, so that it takes no more than three times the set of a long text. It reuses its memory.
type Gatherer struct {
	// Bag makes a signature that occurs several times count as often: the second time as the hash
	// of its hash and 2, and so on. So the sets of two bags share as many as the bags do.
	Bag bool

	hashes []uint64
}

// A Gatherer has room for gatherFirst hashes at first, and for at most gatherKeeps it keeps the
// room for the next text.
const (
	gatherFirst = 1 << 12
	gatherKeeps = 1 << 16
)

// Add adds a signature.
func (g *Gatherer) Add(s Signature) {
	if len(g.hashes) == cap(g.hashes) {
		g.makeRoom()
	}
	g.hashes = append(g.hashes, s.Hash)
}

// makeRoom drops what occurs again, and doubles the room where that leaves less than half of it.
func (g *Gatherer) makeRoom() {
	if !g.Bag {
		slices.Sort(g.hashes)
		g.hashes = slices.Compact(g.hashes)
	}
	if n := len(g.hashes); n >= cap(g.hashes)/2 {
		g.hashes = slices.Grow(g.hashes, max(2*n, gatherFirst)-n)
	}
}

// Set returns the set: hashes, ascending, each once. The Gatherer is empty then.
func (g *Gatherer) Set() []uint64 {
	set := g.hashes
	slices.Sort(set)
	if g.Bag {
		bag(set)
	}
	set = slices.Compact(set)
	if cap(set) <= gatherKeeps {
		g.hashes = set[:0]
		return slices.Clone(set)
	}
	g.hashes = nil
	return set
}

// bag makes a set of sorted hashes, in their place, that has each as often as they have.
func bag(hashes []uint64) {
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

// Set returns the set of signatures.
func Set(signatures []Signature) []uint64 {
	var g Gatherer
	for _, s := range signatures {
		g.Add(s)
	}
	return g.Set()
}
