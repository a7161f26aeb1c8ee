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
//	slot: | bytes 0-7 of the token | bytes 8-15, zero padded | hash | text | feature |   32 bytes, 256 KiB in all: L2
//
// Where single words are the features, a slot remembers too which feature of which text its word is, and a
// word that comes again in a text is counted without another look-up.
type memo struct {
	key   [32]byte
	stop  map[string]bool
	slots []memoSlot
}

type memoSlot struct {
	lo, hi  uint64
	hash    uint64 // 0: a stop word
	text    uint32 // number of the text in which the word was last counted
	feature uint32 // and its index among the features of that text
}

const (
	memoBits = 13
	memoMax  = 16 // bytes of the longest token that is remembered
)

func newMemo(key [32]byte, stop map[string]bool) *memo {
	return &memo{key: key, stop: stop, slots: make([]memoSlot, 1<<memoBits)}
}

// short finds the slot of a token of 1 to 16 bytes, given as its padded words, and hashes it if it is new.
func (m *memo) short(lo, hi uint64, n int) *memoSlot {
	s := &m.slots[memoIndex(lo, hi)]
	if s.lo != lo || s.hi != hi {
		m.learn(s, lo, hi, n)
	}
	return s
}

func (m *memo) learn(s *memoSlot, lo, hi uint64, n int) {
	var token [memoMax]byte
	binary.LittleEndian.PutUint64(token[:8], lo)
	binary.LittleEndian.PutUint64(token[8:], hi)
	*s = memoSlot{lo: lo, hi: hi, hash: m.long(token[:n])}
}

// long hashes a token of any length. 0 says that it is a stop word; a hash of 0 is turned into 1.
func (m *memo) long(token []byte) uint64 {
	if m.stop != nil && m.stop[string(token)] {
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
	return m.short(binary.LittleEndian.Uint64(pad[:8]), binary.LittleEndian.Uint64(pad[8:]), len(token)).hash
}

// forgetTexts is for when the numbers of texts begin anew.
func (m *memo) forgetTexts() {
	for i := range m.slots {
		m.slots[i].text = 0
	}
}

// memoIndex mixes the key into a slot number: the multipliers are odd and random, the top bits are used.
func memoIndex(lo, hi uint64) uint64 {
	return (lo*0x9e3779b97f4a7c15 ^ hi*0xc2b2ae3d27d4eb4f) >> (64 - memoBits)
}
