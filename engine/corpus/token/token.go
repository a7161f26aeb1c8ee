package token

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// Kind is the kind of a token.
type Kind uint8

const (
	// Word is a word of a script that puts spaces between words, or a number.
	Word Kind = iota
	// Char is one character of a script that puts no spaces between words; of the chars tokeniser,
	// any letter or digit.
	Char
)

// packedMax is the number of bytes of the longest token that a [Token] holds itself.
const packedMax = 16

// Token is one token of a text. Its normalised bytes are held by the token itself where they are at
// most 16, and by the Scanner otherwise; [Scanner.AppendText] returns them in both cases.
type Token struct {
	lo, hi uint64 // the normalised bytes, padded with zeros; of a long token its place in Scanner.long and its length
	// Start and End are the range of the source text's bytes that the token was made of. Where
	// characters were normalised together, the range covers all of them, so that ranges of
	// neighbours may be equal or overlap.
	Start, End int
	packed     uint8 // length of the normalised bytes, 0 if they are longer than packedMax
	Kind       Kind
	// Stop is true for a word of the list of stop words that the Scanner was asked to mark.
	Stop bool
}

// First returns the first byte of the normalised token, or 0 if it has more than 16 bytes.
func (t *Token) First() byte {
	if t.packed == 0 {
		return 0
	}
	return byte(t.lo)
}

// pack returns at most packedMax bytes as two little-endian words padded with zeros. No normalised
// token has a zero byte, so that equal words are equal tokens.
func pack(s []byte) (lo, hi uint64) {
	var pad [packedMax]byte
	copy(pad[:], s)
	return binary.LittleEndian.Uint64(pad[:8]), binary.LittleEndian.Uint64(pad[8:])
}

// stopWords holds, by language, the words that carry grammar and no topic: articles, pronouns,
// auxiliary verbs, prepositions, conjunctions. Single words, folded as the tokeniser folds them. A
// list is part of every recipe of fingerprints: changing one changes them.
var stopWords = map[string]string{
	"en": `a an the this that these those
	i me my mine myself we us our ours ourselves you your yours yourself yourselves
	he him his himself she her hers herself it its itself they them their theirs themselves
	who whom whose which what when where why how
	am is are was were be been being have has had having do does did doing done
	can could may might must shall should will would
	and or but nor so yet if then else because while although though as than whether
	of in on at by for with from to into onto upon over under about above below between among against
	through during before after until since within without across toward towards up down out off
	not no only also very too just both each every either neither all any some few many much more most
	other another such same own here there again once
	can't couldn't didn't doesn't don't hadn't hasn't haven't isn't aren't wasn't weren't won't wouldn't
	shouldn't i'm i've i'll i'd you're you've you'll he's she's it's we're we've we'll they're they've
	they'll that's there's what's let's`,
}

// CheckStopWords returns an error that names the languages that have a list of stop words, unless
// language is one of them or empty.
func CheckStopWords(language string) error {
	if _, ok := stopWords[language]; ok || language == "" {
		return nil
	}
	have := slices.Sorted(maps.Keys(stopWords))
	return fmt.Errorf("stop_words is %.64q, must be empty or one of %s", language, strings.Join(have, ", "))
}

// stopTable is a list of stop words as an open-addressing table of packed tokens. It has eight
// places for each word, so that nearly every look-up ends at the first one. All stop words are at
// most packedMax bytes.
type stopTable struct {
	slots []stopSlot
	shift uint
}

type stopSlot struct{ lo, hi uint64 }

// newStopTable returns the table of a language, nil for "".
func newStopTable(language string) *stopTable {
	if language == "" {
		return nil
	}
	list := strings.Fields(stopWords[language])
	log := bits.Len(uint(8 * len(list)))
	t := &stopTable{slots: make([]stopSlot, 1<<log), shift: uint(64 - log)}
	for _, w := range list {
		lo, hi := pack([]byte(w))
		if i, found := t.find(lo, hi); !found {
			t.slots[i] = stopSlot{lo, hi}
		}
	}
	return t
}

// mark sets Stop of those tokens that are stop words. A token that is too long to be packed is in
// no table (see [Hasher.Probe]).
func (t *stopTable) mark(tokens []Token) {
	for i := range tokens {
		_, tokens[i].Stop = t.find(tokens[i].lo, tokens[i].hi)
	}
}

// find returns the slot of a packed token, or the free one where it would go.
func (t *stopTable) find(lo, hi uint64) (i uint64, found bool) {
	mask := uint64(len(t.slots) - 1)
	for i = (lo*spreadLo ^ hi*spreadHi) >> t.shift; ; i = (i + 1) & mask {
		switch t.slots[i] {
		case stopSlot{lo, hi}:
			return i, true
		case stopSlot{}:
			return i, false
		}
	}
}

// Odd random multipliers that bring every byte of a packed token to the top bits.
const (
	spreadLo = 0x9e3779b97f4a7c15
	spreadHi = 0xc2b2ae3d27d4eb4f
)
