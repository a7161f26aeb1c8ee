package simhash

import "ndd/asm"

// counters counts as type votes does, on machines whose vector registers hold 64 counters side by side. Measured, asm.WeightedVotes
// and asm.Majority for features of weight 8 sqrt(t), t by Zipf's law, in ns a feature, and whole texts of English in
// MB/s (BenchmarkFingerprint):
//
//	features          50    200   1,000   5,000      1 KiB   16 KiB
//	AVX-512          2.6    1.9     1.6     1.5      102     131
//	AVX2             3.9    3.1     2.8     2.7      103     131
//	votes, plain Go  7.0    5.3     4.5     4.4       98     124
//
// A feature of weight 65,536 or more, 8,192 occurrences in one text, makes asm.WeightedVotes take the slow
// way, 14 ns, for the 8,192 features around it.
type counters struct {
	ones  [64]uint64
	total uint64 // weight of all hashes
}

// vectorVotes says whether counters are faster than votes. NEON has no masked add: a hash takes 44 instructions, 29
// of them on vector pipes, of which many cores have two. That is no less than what votes take, so arm64 keeps those.
func vectorVotes() bool { return asm.VectorBytes() >= 32 }

// addWeighted adds hashes with their weights.
func (c *counters) addWeighted(hashes []uint64, weights []uint32) {
	asm.WeightedVotes(&c.ones, hashes, weights)
	total := c.total
	for _, w := range weights {
		total += uint64(w)
	}
	c.total = total
}

// sign returns the fingerprint, which has a 1 for each bit with more than half of the votes.
func (c *counters) sign() Fingerprint { return Fingerprint(asm.Majority(&c.ones, c.total)) }

// elect, the heart of simhash, returns the fingerprint of the features of words and of characters, whose times
// are weights by now: every hash votes with its weight on each of the 64 bits, and the fingerprint has a 1
// where the ones have strictly more votes than the zeros. A tie is a 0, so that of no features is 0. The order
// of the features does not matter.
func elect(words, chars *counter) Fingerprint {
	if vectorVotes() {
		var c counters
		c.addWeighted(words.hashes, words.times)
		c.addWeighted(chars.hashes, chars.times)
		return c.sign()
	}
	var v votes
	v.addWeighted(words.hashes, words.times)
	v.addWeighted(chars.hashes, chars.times)
	return v.sign()
}
