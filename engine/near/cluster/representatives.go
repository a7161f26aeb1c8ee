package cluster

import (
	"iter"
	"math"

	"example.org/ndd/asm"
)

// Representatives are fingerprints in order of preference, of which Near finds those within k bits
// of another. The zero value has none; Reset begins. While they are few, all are compared. When they
// are more, there are tables of them: each finds those that agree in some bits of a fingerprint.
//
//	bits of a table --map--> bucket: | a f g | ranks |    compared eight a step
//
// The tables are built anew each time that there are four times as many representatives, by the
// bits that tell those apart best.
type Representatives struct {
	k      int
	bytes  int64 // they may take
	keys   []uint64
	tables []repTable // none while all are compared
	grow   int        // size beyond which the tables are built anew
}

// A repTable has the representatives by their bits under a mask.
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
	tablesMin    = 4096 // size from which on there are tables: where comparing all takes 300 ns
	withinBlock  = 256  // compared at a time
	growthFactor = 4    // by which they may grow until the tables are built anew
	repBytes     = 24   // of a representative, in slices that grow
	repInTable   = 100  // bytes of it in a table, alone in its bucket
)

// Reset removes all fingerprints and sets the distance. Tables of more than bytes are not made:
// without them every search compares all.
func (r *Representatives) Reset(k int, bytes int64) {
	r.k, r.bytes = k, bytes
	r.keys, r.tables, r.grow = r.keys[:0], nil, tablesMin
}

// At returns a fingerprint by its number.
func (r *Representatives) At(i int) uint64 { return r.keys[i] }

// Hits are numbers of representatives. They are the memory of a goroutine for [Representatives.Near].
type Hits [withinBlock]uint32

// Near yields the representatives from number from on that are within k bits of a fingerprint: each time some numbers in hits,
// counted from a first one. They are in no order, and some may come several times. It may be called from
// many goroutines while there is no call of Add.
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

// isDense reports whether comparing all costs no more than comparing those in the buckets of a
// fingerprint, as where most are near each other and so in the same bucket of each table.
func (r *Representatives) isDense(key uint64) bool {
	n := 0
	for i := range r.tables {
		if b := r.tables[i].buckets[key&r.tables[i].mask]; b != nil {
			n += len(b.keys)
		}
	}
	return n >= len(r.keys)
}

// within yields those of some keys that are within k bits of another. Their numbers are ranks or, if that is nil, begin with
// first.
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

// Add adds a fingerprint behind all others.
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

// add adds a representative behind all others.
func (t *repTable) add(key uint64, rank uint32) {
	b := t.buckets[key&t.mask]
	if b == nil {
		b = new(repBucket)
		t.buckets[key&t.mask] = b
	}
	b.keys, b.ranks = append(b.keys, key), append(b.ranks, rank)
}
