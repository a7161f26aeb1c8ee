package scan

// chunkPrints is the number of fingerprints of a chunk: the paper's 64 MiB.
const chunkPrints = 8 << 20

// A Chunk is F, or a part of it that is mapped at once.
type Chunk struct {
	Fingerprints []uint64 // fingerprints in memory or in a mapped file
	First        uint64   // row in F of the first fingerprint
}

// split calls yield with parts of chunkPrints, until it returns false.
func (c Chunk) split(yield func(Chunk) bool) {
	for start := 0; start < len(c.Fingerprints); start += chunkPrints {
		part := c.Fingerprints[start:min(start+chunkPrints, len(c.Fingerprints))]
		if !yield(Chunk{part, c.First + uint64(start)}) {
			return
		}
	}
}
