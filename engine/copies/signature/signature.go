// Package signature is what the methods of copy detection have in common: a feature of a text as a hash with its place,
// and the set of a text's features.
//
//	text ──► spotsigs, ccdet or winnow ──► signatures, in order ──► Set: hashes, ascending, each once
//
// Hashes have 64 bits: two different features of a corpus of n features have one hash with a chance of n^2/2^65, 3e-4
// for 1e8 features, and a shared feature more or less moves a similarity by one of its size.
package signature

import (
	"slices"

	"ndd/engine/corpus/token"
)

// A Signature is one feature of a text.
type Signature struct {
	Hash       uint64
	Start, End int32 // bytes of the text that it was made of
}

// Key makes the hashes of tokens that signatures are folded of. It is no secret: signatures made anywhere must be comparable.
var Key = token.NewKey(keyBytes)

var keyBytes = [32]byte{
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
}

// Fold returns the hash of a row of tokens of which h is the hash of all but the last, 0 at first, and token that of
// the last. Order counts. It is one step of a multiplicative hash and the finaliser of MurmurHash3.
func Fold(h, token uint64) uint64 {
	h = (h ^ token) * 0x9e3779b97f4a7c15
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return h
}

// AppendSet appends the distinct hashes of signatures to dst, ascending.
func AppendSet(dst []uint64, signatures []Signature) []uint64 {
	from := len(dst)
	dst = appendSorted(dst, signatures)
	return dst[:from+len(slices.Compact(dst[from:]))]
}

// AppendBag appends the hashes of signatures as AppendSet does, but those that occur several times as often: the second time as
// the hash of hash and 2, and so on. So the sets of two bags share as many as the bags do.
func AppendBag(dst []uint64, signatures []Signature) []uint64 {
	from := len(dst)
	dst = appendSorted(dst, signatures)
	return dst[:from+len(bagOf(dst[from:]))]
}

// bagOf makes a set of sorted hashes, in their place, that has each as often as they have.
func bagOf(bag []uint64) []uint64 {
	last, n := uint64(0), uint64(0)
	for i, hash := range bag {
		if i == 0 || hash != last {
			last, n = hash, 0
		}
		if n++; n > 1 {
			bag[i] = Fold(hash, n)
		}
	}
	slices.Sort(bag)
	return slices.Compact(bag)
}

// Shared returns how many hashes two sets have in common.
func Shared(a, b []uint64) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		if x == y {
			n++
		}
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	return n
}
