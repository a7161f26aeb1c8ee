package dedup

import (
	"cmp"
	"slices"

	"ndd/engine/storage/spill"
)

// Texts are equal if their hashes are. The hashes, 16 bytes a document, are in a temporary file where
// they are many.

const (
	hashesHeld = 16 << 10 // as many are in memory
	hashBuffer = 64 << 10 // bytes that are written at a time
)

// appendHash appends the hash of the next row's text.
func (c *Corpus) appendHash(h [2]uint64) (err error) {
	switch {
	case h == [2]uint64{}:
		return nil
	case c.hashes != nil:
		return c.hashes.Append([][2]uint64{h})
	}
	if c.hash = append(c.hash, h); len(c.hash) < hashesHeld {
		return nil
	}
	if c.hashes, err = spill.Create[[2]uint64](c.o.Disk, c.o.TempDir, "hashes", hashBuffer); err == nil {
		err = c.hashes.Append(c.hash)
	}
	c.hash = nil
	return err
}

// endHashes makes the hashes ready to be read.
func (c *Corpus) endHashes() (err error) {
	if c.hashes != nil {
		c.hash, err = c.hashes.Map()
	}
	return err
}

// Equal reports whether two documents are known to have the same text: those of fingerprint files have
// no hashes.
func (r *Result) Equal(a, b Row) bool {
	h := r.corpus.hash
	return h != nil && h[a] == h[b]
}

// distinct returns the first of the members with each text, ascending as the members are, and for each
// member the number of its text.
func (c *Corpus) distinct(members []Row) (firsts []Row, of []uint32) {
	of = make([]uint32, len(members))
	for i := range of {
		of[i] = uint32(i)
	}
	if c.hash == nil {
		return members, of
	}
	number := slices.Clone(of)
	slices.SortFunc(number, func(a, b uint32) int {
		x, y := c.hash[members[a]], c.hash[members[b]]
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(a, b))
	})
	for i, m := range number[min(1, len(number)):] {
		if before := number[i]; c.hash[members[m]] == c.hash[members[before]] {
			of[m] = of[before]
		}
	}
	for i, first := range of {
		if int(first) == i {
			number[i], firsts = uint32(len(firsts)), append(firsts, members[i])
		}
		of[i] = number[first]
	}
	return firsts, of
}

// splitUnequal leaves in each cluster the documents that have the text of the one kept. The clusters
// are of documents whose hashes begin with the same 64 bits.
func (r *Result) splitUnequal(prefer func(a, b int) int) {
	var groups []group
	for c := range r.Clusters() {
		kept := c.Kept
		for rest := c.Rows; len(rest) > 0; {
			g := group{kept: kept}
			var others []Row
			for _, row := range rest {
				if r.Equal(row, kept) {
					g.members = append(g.members, member{row, same})
				} else {
					others = append(others, row)
				}
			}
			groups = append(groups, g)
			if rest = others; len(rest) > 0 {
				kept = rest[0]
				for _, row := range rest {
					if prefer != nil && prefer(int(row), int(kept)) < 0 {
						kept = row
					}
				}
			}
		}
	}
	r.replaceClusters(groups)
	r.Rejected = 0
}
