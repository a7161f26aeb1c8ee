package token

import "github.com/minio/highwayhash"

// A Hasher hashes tokens with HighwayHash-64 under one key, and remembers the hashes. HighwayHash takes about 90 ns for
// a short word, and text repeats its words: 8,192 slots hold the working set of any one text (hits above 95 % on
// English). It belongs to one goroutine and takes 256 KiB, an L2 cache's worth.
//
// A packed token is its own key. A slot holds one token; a newcomer takes the place of what was there, so memory is
// fixed and nothing is ever cleared. Longer tokens are hashed each time.
//
//	slot: | bytes 0-7 of the token | bytes 8-15, zero padded | hash | tag |   32 bytes
type Hasher struct {
	key     [32]byte
	scanner *Scanner
	spare   Slot // of a token that is too long to be remembered
	slots   [1 << hasherBits]Slot
}

// A Slot is what a Hasher remembers of a token.
type Slot struct {
	lo, hi uint64
	// Hash is the token's, never 0.
	Hash uint64
	// Tag is for the caller, who may note what became of the token; it is 0 in a slot that has just been filled.
	Tag uint64
}

const hasherBits = 13

// NewHasher returns a Hasher of the tokens that s yields, with a key.
func NewHasher(s *Scanner, key [32]byte) *Hasher { return &Hasher{key: key, scanner: s} }

// Probe returns the slot of a token that the Scanner yielded, during the call of yield, if it is remembered; if not, [Hasher.Learn]
// must be called. The slot is the token's until the next call of Learn. Probe is inlined.
//
// A long token is found in no slot: its place and its length are no bytes of a packed one, of which the first word is
// full where there is a second one.
func (h *Hasher) Probe(t *Token) (s *Slot, known bool) {
	s = &h.slots[(t.lo*spreadLo^t.hi*spreadHi)>>(64-hasherBits)]
	return s, s.lo == t.lo && s.hi == t.hi
}

// Learn fills the slot of a token, or the spare one with a long token, and returns it.
func (h *Hasher) Learn(t *Token) *Slot {
	if t.packed == 0 {
		h.spare = Slot{Hash: h.sum(h.scanner.long[t.lo : t.lo+t.hi])}
		return &h.spare
	}
	var pad [packedMax]byte
	s, _ := h.Probe(t)
	*s = Slot{lo: t.lo, hi: t.hi, Hash: h.sum(h.scanner.AppendText(pad[:0], t))}
	return s
}

// sum returns the hash of a token's bytes; 0 is turned into 1.
func (h *Hasher) sum(token []byte) uint64 { return max(highwayhash.Sum64(token, h.key[:]), 1) }

// ClearTags sets the tags of all slots to 0.
func (h *Hasher) ClearTags() {
	for i := range h.slots {
		h.slots[i].Tag = 0
	}
}
