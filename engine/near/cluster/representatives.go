package cluster

import (
	"iter"
	"math"

	"example.org/ndd/asm"
)

// Representatives are fingerprints in order of preference. Near finds the representatives within k bits of another
// fingerprint. The zero value has none: call Reset first. Near compares all while there are few. When there are more,
// it uses tables. Each table finds the representatives that agree with a fingerprint in some bits.
//
//	bits of a table --map--> bucket: | a f g | ranks |    compared eight a step
//
// The tables are built again each time that the number of representatives has grown to four times its value. They use
// the bits that distinguish the representatives best.
type Representatives struct {
	k      int
	bytes  int64 // memory limit; beyond it there are no tables
	keys   []uint64
	tables []repTable // none while all are compared
	grow   int        // number of keys beyond which the tables are built again
}

// A repTable maps the bits of a mask to the representatives with these bits.
type repTable struct {
	mask    uint64
	buckets map[uint64]*repBucket
}

// A repBucket has representatives in order, with their indexes.
type repBucket struct {
	keys  []uint64
	ranks []uint32
}

const (
	tablesMin    = 4096 // number of keys beyond which there are tables; a comparison with so few takes 300 ns
	withinBlock  = 256  // number of keys compared at a time
	growthFactor = 4    // growth after which the tables are built again
	repBytes     = 24   // memory of a representative, in slices that grow
	repInTable   = 100  // memory of a representative in a table, alone in its bucket
)

// Reset removes all fingerprints and sets the distance and the memory limit in bytes. If the limit is too low for
// tables, every search compares all representatives.
func (r *Representatives) Reset(k int, bytes int64) {
	r.k, r.bytes = k, bytes
	r.keys, r.tables, r.grow = r.keys[:0], nil, tablesMin
}

// At returns a fingerprint by its number.
func (r *Representatives) At(i int) uint64 { return r.keys[i] }

// Hits are numbers of representatives. Each goroutine has its own for [Representatives.Near].
type Hits [withinBlock]uint32

// Near yields the representatives with number from or above that are within k bits of a fingerprint. It yields them
// in portions: the number of a representative is first plus an element of numbers, which is part of hits. They are in
// no order, and may repeat. Many goroutines may call Near while none calls Add.
func (r *Representatives) Near(hits *Hits, key uint64, from int) iter.Seq2[int, []uint32] {
	return func(yield func(first int, numbers []uint32) bool) {
		if len(r.tables) == 0 || from > 0 || r.isDense(key) {
			r.within(hits, key, r.keys[from:], from, nil, yield)
			return
		}
		for i := range r.tables {
			t := &r.tables[i]
			if b := t.buckets[key&t.mask]; b != nil && !r.within(hits, key, b.keys, 0, b.ranks, yield) {
				return
			}
		}
	}
}

// isDense reports whether the buckets of a fingerprint have at least as many keys as there are representatives. Then a
// comparison with all costs no more. This occurs if most are near each other and so in the same bucket of each table.
func (r *Representatives) isDense(key uint64) bool {
	n := 0
	for i := range r.tables {
		if b := r.tables[i].buckets[key&r.tables[i].mask]; b != nil {
			n += len(b.keys)
		}
	}
	return n >= len(r.keys)
}

// within yields the numbers of the given keys that are within k bits of key. The number of keys[i] is ranks[i], or
// first+i if ranks is nil.
func (r *Representatives) within(hits *Hits, key uint64, keys []uint64, first int, ranks []uint32,
	yield func(first int, numbers []uint32) bool) bool {
	for from := 0; from < len(keys); from += withinBlock {
		n, _ := asm.Within64(hits[:], keys[from:min(from+withinBlock, len(keys))], key, r.k)
		base := first + from
		for i := range hits[:n] {
			if ranks != nil {
				base, hits[i] = 0, ranks[from+int(hits[i])]
			}
		}
		if n > 0 && !yield(base, hits[:n]) {
			return false
		}
	}
	return true
}

// Add adds a fingerprint after all others.
func (r *Representatives) Add(key uint64) {
	if int64(len(r.keys))*int64(repBytes+repInTable*len(r.tables)) >= r.bytes {
		r.tables, r.grow = nil, math.MaxInt
	}
	r.keys = append(r.keys, key)
	if len(r.keys) > r.grow {
		r.grow = growthFactor * len(r.keys)
		r.tables = nil
		for _, t := range chooseForSample(r.keys, r.grow, r.k).Tables {
			table := repTable{t.Mask, make(map[uint64]*repBucket, len(r.keys))}
			for i := range r.keys {
				table.add(r.keys[i], uint32(i))
			}
			r.tables = append(r.tables, table)
		}
		return
	}
	for i := range r.tables {
		r.tables[i].add(key, uint32(len(r.keys)-1))
	}
}

// add adds a representative after all others.
func (t *repTable) add(key uint64, rank uint32) {
	b := t.buckets[key&t.mask]
	if b == nil {
		b = new(repBucket)
		t.buckets[key&t.mask] = b
	}
	b.keys, b.ranks = append(b.keys, key), append(b.ranks, rank)
}
