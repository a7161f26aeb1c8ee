package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/minio/highwayhash"
)

// A Hasher hashes tokens with HighwayHash-64 under one key, and remembers the hashes. HighwayHash takes about 90 ns
// for a short word, and texts repeat their words. 8,192 slots are enough for the words of any one text (more than 95
// % hits on English). A Hasher belongs to one goroutine and takes 192 KiB.
//
// A packed token is its own key. A slot holds one token, and a new token replaces the old one. So memory is fixed,
// and slots are never cleared. Longer tokens are hashed each time.
type Hasher struct {
	key     [32]byte
	scanner *Scanner
	slots   [1 << hasherBits]hasherSlot
}

// A hasherSlot has the padded bytes of a packed token and its hash.
type hasherSlot struct{ lo, hi, hash uint64 }

const hasherBits = 13

// NewHasher returns a Hasher with a key for the tokens that s yields.
func NewHasher(s *Scanner, key [32]byte) *Hasher { return &Hasher{key: key, scanner: s} }

// Hash returns the hash of a token that the Scanner yielded. It must be called during the call of yield.
//
// No slot equals a long token, which has a position and a length in place of bytes: if the second word of a packed
// token is not 0, its first word is full.
func (h *Hasher) Hash(t *Token) uint64 {
	s := &h.slots[(t.lo*spreadLo^t.hi*spreadHi)>>(64-hasherBits)]
	if s.lo == t.lo && s.hi == t.hi {
		return s.hash
	}
	return h.learn(t, s)
}

// learn returns the hash of a token, and stores it in a slot if the token is packed.
func (h *Hasher) learn(t *Token, s *hasherSlot) uint64 {
	if t.packed == 0 {
		return HashOf(h.scanner.long[t.lo:t.lo+t.hi], &h.key)
	}
	var pad [packedMax]byte
	*s = hasherSlot{t.lo, t.hi, HashOf(h.scanner.AppendText(pad[:0], t), &h.key)}
	return s.hash
}

// HashOf returns the hash of a token's bytes, or 1 if the hash is 0.
func HashOf(token []byte, key *[32]byte) uint64 { return max(highwayhash.Sum64(token, key[:]), 1) }

// A Key hashes tokens in about 2 ns with two folded products of 128 bits, as in wyhash. It needs no memory of earlier
// tokens. Word i of a Key is Mix of the key's bytes 8i to 8i+7, little-endian.
type Key [4]uint64

// NewKey returns the Key for 32 bytes.
func NewKey(key [32]byte) (k Key) {
	for i := range k {
		k[i] = Mix(binary.LittleEndian.Uint64(key[8*i:]))
	}
	return k
}

// Hash returns the hash of a token that s yielded. It must be called during the call of yield. A token of n bytes, at
// most 16, is padded with zeros to two words, lo and hi. Its hash is
//
//	mum(mum(lo ^ key[0], hi ^ key[1]) ^ key[2], n ^ key[3])
//
// where mum is the high half of the 128-bit product XORed with the low half. Longer tokens are read 16 bytes at a
// time, and the last bytes are padded with zeros. The first product of each 16 bytes is XORed into the first word of
// the next:
//
//	h = 0;  for each (lo, hi): h = mum(lo ^ h ^ key[0], hi ^ key[1]);  mum(h ^ key[2], n ^ key[3])
func (k *Key) Hash(s *Scanner, t *Token) uint64 {
	if t.packed == 0 {
		return k.hashLong(s.long[t.lo : t.lo+t.hi])
	}
	return mum(mum(t.lo^k[0], t.hi^k[1])^k[2], uint64(t.packed)^k[3])
}

// Sum returns the hash of a token's bytes.
func (k *Key) Sum(token []byte) uint64 {
	if len(token) > packedMax {
		return k.hashLong(token)
	}
	lo, hi := pack(token)
	return mum(mum(lo^k[0], hi^k[1])^k[2], uint64(len(token))^k[3])
}

// hashLong returns the hash of a token of more than 16 bytes.
func (k *Key) hashLong(token []byte) (h uint64) {
	for rest := token; len(rest) > 0; rest = rest[min(packedMax, len(rest)):] {
		lo, hi := pack(rest[:min(packedMax, len(rest))])
		h = mum(lo^h^k[0], hi^k[1])
	}
	return mum(h^k[2], uint64(len(token))^k[3])
}

// Fold returns the hash of the sequence of two elements with the hashes a and b: mum(a ^ foldLeft, b ^ foldRight).
// Order matters because the two constants differ. For a longer sequence, fold the hash of all elements but the last
// one with the hash of the last one.
func Fold(a, b uint64) uint64 { return mum(a^foldLeft, b^foldRight) }

// mum returns the high half of the 128-bit product XORed with the low half.
func mum(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// The first 128 bits of the fraction of pi, as two words.
const (
	foldLeft  = 0x243f6a8885a308d3
	foldRight = 0x13198a2e03707344
)

// Base is the base of the polynomials modulo 2^64 that hash sequences. The hash of n elements t is the sum of t[i] *
// Base^(n-1-i). Base is odd, so that no bit is lost.
const Base = 0x9e3779b97f4a7c15

// Power returns Base^n.
func Power(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= Base
	}
	return p
}

// Mix returns number x, counted from 0, of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) with start state 0. It is a
// permutation of the 64-bit numbers that looks random.
func Mix(x uint64) uint64 {
	x = (x + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
