package cluster

import (
	"math/bits"
	"slices"

	"ndd/asm"
	"ndd/permute"
)

// representatives are fingerprints in order of preference, of which first returns the first within
// k bits of another. While they are few, all are compared. When they are more, there are hash tables
// of them, which grow: each finds by some bits of a fingerprint those that agree in
// them.
//
//	bits of a table --hash--> bucket: from, size --> | a f g . | c | b e d h i . . . |   room, in powers of two
//
// Napkin: a table is a miss for the bucket and one for its fingerprints, eight of which are compared a step;
// the tables' misses overlap. They are built anew each time that there are four times as many, by
// the bits that tell apart best those that there are.
type representatives struct {
	k     int
	bytes int64 // they may take

	keys []uint64
	ids  []uint32

	design permute.Design // of the tables; none while all are compared
	table  []bucket       // the buckets of all tables
	bits   int            // log2 of the buckets of a table
	grow   int            // size beyond which the tables are built anew
	room   []uint64       // fingerprints by bucket
	ranks  []int32        // their indexes in keys
	free   [32][]uint32   // ranges of room without a bucket, by log2 of their size
}

// A bucket is the range of room of those that agree in a table's bits, or have the same hash of them.
type bucket struct{ from, size uint32 }

const (
	tablesMin    = 4096 // size from which on there are tables: where comparing all takes 300 ns
	withinBlock  = 256  // compared at a time
	growthFactor = 4    // by which they may grow until the tables are built anew
)

func (r *representatives) reset() {
	r.keys, r.ids = r.keys[:0], r.ids[:0]
	r.design.Tables, r.grow = nil, tablesMin
	r.table, r.room, r.ranks = r.table[:0], r.room[:0], r.ranks[:0]
}

// full reports whether there is no room for more. Slices that grow are there twice for a moment.
func (r *representatives) full() bool {
	return 2*int64(12*len(r.keys)+12*len(r.room)+8*len(r.table)) >= r.bytes
}

// add adds a fingerprint behind all others.
func (r *representatives) add(key uint64, id uint32) {
	r.keys, r.ids = append(r.keys, key), append(r.ids, id)
	switch {
	case len(r.keys) > r.grow:
		r.buildTables()
	case len(r.design.Tables) > 0:
		r.enter(len(r.keys) - 1)
	}
}

// buildTables builds tables for all that there are and as many more as are expected.
func (r *representatives) buildTables() {
	r.grow = growthFactor * len(r.keys)
	r.design = chooseForSample(r.keys, r.grow, r.k)
	r.bits = bits.Len(uint(r.grow - 1))
	n := len(r.design.Tables) << r.bits
	r.table = slices.Grow(r.table[:0], n)[:n]
	clear(r.table)
	r.room, r.ranks = r.room[:0], r.ranks[:0]
	clear(r.free[:])
	for i := range r.keys {
		r.enter(i)
	}
}

// bucket returns the bucket of a key in a table.
func (r *representatives) bucket(table int, key uint64) *bucket {
	const odd = 0x9e3779b97f4a7c15
	return &r.table[table<<r.bits|int(key&r.design.Tables[table].Mask*odd>>(64-r.bits))]
}

// enter puts fingerprint i into each table.
func (r *representatives) enter(i int) {
	for t := range r.design.Tables {
		s := r.bucket(t, r.keys[i])
		if s.size&(s.size-1) == 0 { // 0, or full
			r.widen(s)
		}
		r.room[s.from+s.size], r.ranks[s.from+s.size] = r.keys[i], int32(i)
		s.size++
	}
}

// widen doubles the room of a bucket that is full.
func (r *representatives) widen(s *bucket) {
	size := max(1, 2*s.size)
	log := bits.Len32(size) - 1
	from := uint32(len(r.room))
	if free := r.free[log]; len(free) > 0 {
		from, r.free[log] = free[len(free)-1], free[:len(free)-1]
	} else {
		r.room = append(r.room, make([]uint64, size)...)
		r.ranks = append(r.ranks, make([]int32, size)...)
	}
	if s.size > 0 {
		copy(r.room[from:], r.room[s.from:s.from+s.size])
		copy(r.ranks[from:], r.ranks[s.from:s.from+s.size])
		r.free[log-1] = append(r.free[log-1], s.from)
	}
	s.from = from
}

// first returns the index of the first one within k bits of a fingerprint, -1 if there is none. It may be called from
// many goroutines while there is no call of add.
func (r *representatives) first(key uint64) int32 {
	if len(r.design.Tables) == 0 {
		return within(r.keys, key, r.k)
	}
	best := int32(-1)
	for t := range r.design.Tables {
		s := r.bucket(t, key)
		if s.size == 0 {
			continue
		}
		at := within(r.room[s.from:s.from+s.size], key, r.k) // they are in order
		if at >= 0 {
			if rank := r.ranks[s.from+uint32(at)]; best < 0 || rank < best {
				best = rank
			}
		}
	}
	return best
}

// within returns the index of the first key within k bits of another, -1 if there is none.
func within(keys []uint64, key uint64, k int) int32 {
	if len(keys) <= 4 {
		for i, other := range keys {
			if bits.OnesCount64(key^other) <= k {
				return int32(i)
			}
		}
		return -1
	}
	var hits [withinBlock]uint32
	for from := 0; from < len(keys); from += withinBlock {
		if n, _ := asm.Within64(hits[:], keys[from:min(from+withinBlock, len(keys))], key, k); n > 0 {
			return int32(from) + int32(hits[0])
		}
	}
	return -1
}
