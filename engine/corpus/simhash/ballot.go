package simhash

import "ndd/engine/corpus/token"

// ballot is the simhash sketch: it counts the features of a text and lets them vote.
type ballot struct {
	recipe   *Recipe
	hasher   *token.Hasher
	shingles shingler
	counts   [2]counter // of words, of characters
	text     uint32     // number of the text at work; 0 is none
}

func newBallot(r *Recipe, hasher *token.Hasher) *ballot {
	b := &ballot{recipe: r, hasher: hasher}
	b.shingles = shingler{size: [2]int{token.Word: r.WordShingle, token.Char: r.CharShingle}, counts: &b.counts}
	return b
}

// begin forgets the last text.
func (b *ballot) begin() {
	for k := range b.counts {
		b.counts[k].reset()
	}
	b.shingles.filled = 0
	if b.text++; b.text == 0 {
		b.hasher.ClearTags()
		b.text = 1
	}
}

// push counts the features of some tokens. Where single words are the features, the tag of a word's slot says which
// feature of which text it is, and a word that comes again in a text is counted without another look-up.
func (b *ballot) push(tokens []token.Token) {
	single := b.shingles.size[token.Word] == 1
	for i := range tokens {
		t := &tokens[i]
		if t.Stop {
			continue
		}
		slot, known := b.hasher.Probe(t)
		if !known {
			slot = b.hasher.Learn(t)
		}
		switch {
		case t.Kind != token.Word || !single:
			b.shingles.push(slot.Hash, t.Kind)
		case uint32(slot.Tag>>32) == b.text && b.shingles.kind == token.Word:
			b.counts[token.Word].again(uint32(slot.Tag))
		default:
			b.shingles.push(slot.Hash, token.Word)
			slot.Tag = uint64(b.text)<<32 | uint64(b.counts[token.Word].last)
		}
	}
}

// sign ends the text and returns its fingerprint and the number of its features, which may be too few.
func (b *ballot) sign() (fp Fingerprint, features int, ok bool) {
	b.shingles.endRun()
	words, chars := &b.counts[token.Word], &b.counts[token.Char]
	features = len(words.hashes) + len(chars.hashes)
	if features < b.recipe.MinFeatures {
		return 0, features, false
	}
	b.weigh()
	return elect(words, chars), features, true
}

// weigh turns the counts into weights.
func (b *ballot) weigh() {
	weigh(b.counts[token.Word].times, b.recipe.WordWeights)
	weigh(b.counts[token.Char].times, b.recipe.CharWeights)
}

// appendFeatures ends the text and appends its features to dst.
func (b *ballot) appendFeatures(dst []Feature) []Feature {
	b.shingles.endRun()
	b.weigh()
	for k := range b.counts {
		c := &b.counts[k]
		for i, h := range c.hashes {
			dst = append(dst, Feature{h, c.times[i]})
		}
	}
	return dst
}
