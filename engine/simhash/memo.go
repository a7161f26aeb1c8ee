package simhash

import (
	"encoding/binary"

	"github.com/minio/highwayhash"
)

// memo remembers the hashes of tokens. HighwayHash takes about 90 ns for a short word, and text repeats its
// words: 8,192 slots hold the working set of any one text (hits above 95 % on English).
//
// A token of up to 16 bytes is its own key, two words padded with zero bytes (no token contains one). A slot
// holds one token; a newcomer takes the place of what was there, so memory is fixed and nothing is ever
// cleared. Longer tokens are hashed each time.
//
//	slot: | bytes 0-7 of the token | bytes 8-15, zero padded | hash |      24 bytes, 192 KiB in all: L2
type memo struct {
	key   [32]byte
	stop  map[string]bool
	slots []memoSlot
}

type memoSlot struct {
	lo, hi uint64
	hash   uint64 // 0: a stop word
}

const (
	memoBits = 13
	memoMax  = 16 // bytes of the longest token that is remembered
)

func newMemo(key [32]byte, stop map[string]bool) *memo {
	m := &memo{key: key, stop: stop, slots: make([]memoSlot, 1<<memoBits)}
	return m
}

// short hashes a token of 1 to 16 bytes given as its padded words. 0 says that it is a stop word.
func (m *memo) short(lo, hi uint64, n int) uint64 {
	s := &m.slots[memoIndex(lo, hi)]
	if s.lo == lo && s.hi == hi {
		return s.hash
	}
	var token [memoMax]byte
	binary.LittleEndian.PutUint64(token[:8], lo)
	binary.LittleEndian.PutUint64(token[8:], hi)
	*s = memoSlot{lo, hi, m.long(token[:n])}
	return s.hash
}

// long hashes a token of any length. 0 says that it is a stop word; a hash of 0 is turned into 1.
func (m *memo) long(token []byte) uint64 {
	if m.stop[string(token)] {
		return 0
	}
	return max(highwayhash.Sum64(token, m.key[:]), 1)
}

// bytes hashes a token that lies in memory.
func (m *memo) bytes(token []byte) uint64 {
	if len(token) > memoMax {
		return m.long(token)
	}
	var pad [memoMax]byte
	copy(pad[:], token)
	return m.short(binary.LittleEndian.Uint64(pad[:8]), binary.LittleEndian.Uint64(pad[8:]), len(token))
}

// memoIndex mixes the key into a slot number: the multipliers are odd and random, the top bits are used.
func memoIndex(lo, hi uint64) uint64 {
	return ((lo^hi>>3)*0x9e3779b97f4a7c15 ^ hi*0xc2b2ae3d27d4eb4f) >> (64 - memoBits)
}
