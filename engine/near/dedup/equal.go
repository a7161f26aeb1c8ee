package dedup

import (
	"cmp"
	"slices"

	"ndd/engine/memory"
)

// hashesHeld is how many hashes of 128 bits are in memory; more are in a temporary file.
const hashesHeld = 16 << 10

// appendHashes appends the hashes of the text and the URL of the next row.
func (c *Corpus) appendHashes(d *Document) error {
	if d.Hash != [2]uint64{} {
		if err := c.appendHash(&c.hashes, "hashes", d.Hash); err != nil {
			return err
		}
	}
	if len(c.o.SameURL) == 0 {
		return nil
	}
	return c.appendHash(&c.urls, "URLs", hashURL(valueAt(d.Values, len(d.Values)-1).Text))
}

func (c *Corpus) appendHash(to *column[[2]uint64], what string, h [2]uint64) error {
	if err := to.append(h); err != nil || len(to.all) < hashesHeld {
		return err
	}
	return to.spill(&c.o, what)
}

// Equal reports whether two documents are known to have the same text: those of fingerprint files have
// no hashes.
func (r *Result) Equal(a, b Row) bool {
	h := r.corpus.hashes.all
	return h != nil && h[a] == h[b]
}

// distinct returns the first of the members with each text, ascending as the members are, and for each
// member the number of its text: 4 bytes a member, and where texts have hashes 16.
func (c *Corpus) distinct(a *memory.Arena, members []Row) (firsts []Row, of []uint32, err error) {
	of = memory.In[uint32](a, len(members), &err)
	for i := range of {
		of[i] = uint32(i)
	}
	hash := c.hashes.all
	if hash == nil || err != nil {
		return members, of, err
	}
	firsts = memory.In[Row](a, len(members), &err)[:0]
	number := memory.In[uint32](a, len(members), &err)
	if err != nil {
		return nil, nil, err
	}
	copy(number, of)
	slices.SortFunc(number, func(a, b uint32) int {
		x, y := hash[members[a]], hash[members[b]]
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(a, b))
	})
	for i, m := range number[min(1, len(number)):] {
		if before := number[i]; hash[members[m]] == hash[members[before]] {
			of[m] = of[before]
		}
	}
	for i, first := range of {
		if int(first) == i {
			number[i], firsts = uint32(len(firsts)), append(firsts, members[i])
		}
		of[i] = number[first]
	}
	return firsts, of, nil
}

// splitUnequal leaves in each cluster the documents that have the text of the one kept. The clusters
// are of documents whose hashes begin with the same 64 bits.
func (r *Result) splitUnequal(prefer func(a, b int) int) error {
	d, err := r.divide(true)
	if err != nil {
		return err
	}
	for i, c := range r.found.Clusters() {
		var groups []group
		kept := c.Representative
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
			if len(g.members) > 1 {
				groups = append(groups, g)
			}
			if rest = others; len(rest) > 0 {
				kept = rest[0]
				for _, row := range rest {
					if prefer != nil && prefer(int(row), int(kept)) < 0 {
						kept = row
					}
				}
			}
		}
		d.add(r.found.At(i), groups)
	}
	r.replace(d)
	r.Rejected = 0
	return nil
}
