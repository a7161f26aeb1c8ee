package live

import (
	"fmt"
	"math/bits"
	"slices"

	"ndd/engine/index/radix"
)

// A query with very many hits is answered in passes over all fingerprints. Each pass picks those that come
// next, nearest first:
//
//	all within k   ....x....x..x.......x...x.x......       in the order of table 0
//	pass 1         the first half million    ---> hits, with their documents, some thousand at a time
//	pass 2         the next half million     ---> ...
//
// nearest is what a pass has picked.
type nearest struct {
	query uint64
	most  int // of list, until it is cut down to half as many
	list  []uint64
	spare []uint64 // as long as list

	later bool   // than last only
	last  uint64 // of the pass before
	cut   bool   // there are more than in list, all behind its last
	bound uint64 // that one
}

// less orders fingerprints by their distance from the query, equal distances by value.
func (n *nearest) less(a, b uint64) bool {
	x, y := bits.OnesCount64(a^n.query), bits.OnesCount64(b^n.query)
	return x < y || x == y && a < b
}

// add picks those of the fingerprints that belong to the pass.
func (n *nearest) add(fingerprints []uint64) {
	for _, f := range fingerprints {
		if n.later && !n.less(n.last, f) || n.cut && !n.less(f, n.bound) {
			continue
		}
		if len(n.list) == n.most {
			n.sort()
		}
		n.list = append(n.list, f)
	}
}

// sort puts the list in order, each once, and cuts it down to half of what it may be.
func (n *nearest) sort() {
	n.spare = slices.Grow(n.spare[:0], len(n.list))[:len(n.list)]
	var ends [65]int // of the fingerprints at each distance
	for _, f := range n.list {
		ends[bits.OnesCount64(f^n.query)]++
	}
	for d, at := 0, 0; d < len(ends); d++ {
		at, ends[d] = at+ends[d], at
	}
	for _, f := range n.list { // ends[d] moves from where d begins to where it ends
		d := bits.OnesCount64(f ^ n.query)
		n.spare[ends[d]] = f
		ends[d]++
	}
	from := 0
	for _, end := range ends {
		if part := n.spare[from:end]; len(part) >= nearestRadix {
			radix.Keys(n.list[from:end], part, ^uint64(0), 1)
		} else {
			slices.Sort(part)
			copy(n.list[from:end], part)
		}
		from = end
	}
	n.list = slices.Compact(n.list)
	if len(n.list) > n.most/2 {
		n.list = n.list[:n.most/2]
		n.cut, n.bound = true, n.list[len(n.list)-1]
	}
}

// nearestRadix fingerprints at one distance or more are sorted by their digits.
const nearestRadix = 1 << 16

// next begins another pass, and reports whether there is one.
func (n *nearest) next() bool {
	if !n.cut {
		return false
	}
	n.later, n.last, n.cut = true, n.bound, false
	n.list = n.list[:0]
	return true
}

// streamNearest is [Searcher.Stream] of the query in c.query, in passes.
func (c *Searcher) streamNearest(w View, k, docs int, emit func([]Hit) error) error {
	n := nearest{query: c.query[0], most: c.limits.nearest}
	for more := true; more; more = n.next() {
		if err := c.pass(w, k, &n); err != nil {
			return err
		}
		n.sort()
		most := max(c.limits.piece.hits/w.version.sources(), 1)
		for part := range slices.Chunk(n.list, most) {
			c.matchesOf(w, part, &n)
			if err := c.emit(w, docs, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass gives n what segments and memtables have.
func (c *Searcher) pass(w View, k int, n *nearest) error {
	for i, s := range w.version.segments {
		err := s.ScanEach(n.query, k, &c.segment, func(fingerprints []uint64) error {
			n.add(fingerprints)
			return nil
		})
		if err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	a := memSearch{view: w, k: k, lengths: c.lengths, positions: c.positions}
	for _, m := range w.version.memtables {
		m.scan(0, m.before(w.clock), n.query, k, c.positions, func(f uint64, row uint32) bool {
			if a.takes(m, int(row), 0) {
				n.add([]uint64{f})
			}
			return true
		})
		if err := c.ended(); err != nil {
			return err
		}
	}
	return nil
}

// matchesOf sets c.matches to a match of each segment and memtable for each of the fingerprints, since any may have it.
func (c *Searcher) matchesOf(w View, fingerprints []uint64, n *nearest) {
	c.matches = c.matches[:0]
	for _, f := range fingerprints {
		for i := range w.version.sources() {
			c.matches = append(c.matches, Match{0, bits.OnesCount64(f ^ n.query), f, i, 0})
		}
	}
}

// sources returns how many segments and memtables the version has.
func (v *version) sources() int { return len(v.segments) + len(v.memtables) }
