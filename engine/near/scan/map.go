package scan

import (
	"math/bits"

	"ndd/asm"
	"ndd/engine/memory"
)

// A match is a distinct query and a row of F within distance k of each other.
type match struct {
	Query       uint32 // number of the distinct query, in their order
	Distance    uint32
	Fingerprint uint64
	Row         uint64 // of F
}

const (
	// partPrints fingerprints pass by one table after the other, so that they are
	// read from memory once: 14 MiB of the outer cache. Unless they are skewed, no
	// pile is full before all are dealt, so that each part of a table is read once.
	partPrints = 7 << (roomBits - 3)
	// mapKeys keys are permuted at a time, where there are no piles.
	mapKeys = 2048
	// joinedMax is how many pairs are verified together.
	joinedMax = 512
	// siftCall words are sifted at a time.
	siftCall = 4096
	// matchesMax is how many matches are handed on at a time.
	matchesMax = 4096
)

// A mapper maps chunks. It belongs to one goroutine.
type mapper struct {
	tables *tables
	emit   func([]match) error

	keys       []uint64
	joined     []asm.JoinPair
	long       []uint32
	partitions []*keyPartitions // of each table; all in the same memory, which is empty between them
	words      *memory.Buffer[uint64]
	matches    []match

	// of a sieve
	halves *halfPartitions
	dealt  *memory.Buffer[uint64]
	sifted []uint64
	left   stretch // what is left of half half, to be joined
	half   int

	// of what is to be verified
	rows  []uint32 // of the part
	lanes []uint32
	diffs []uint64
}

// newMapper makes a mapper, which hands matches, in no order, to emit; they are
// good until that returns. Close it when done.
func (t *tables) newMapper(emit func([]match) error) (*mapper, error) {
	m := &mapper{
		tables:     t,
		emit:       emit,
		keys:       make([]uint64, mapKeys),
		joined:     make([]asm.JoinPair, joinedMax),
		long:       make([]uint32, joinedMax),
		partitions: make([]*keyPartitions, len(t.tables)),
		matches:    make([]match, 0, matchesMax),
		rows:       make([]uint32, joinedMax),
		lanes:      make([]uint32, joinedMax),
		diffs:      make([]uint64, joinedMax),
	}
	var err error
	if m.words, err = memory.Make[uint64](t.pileWords()); err != nil {
		return nil, err
	}
	for i := range t.tables {
		q := &t.tables[i]
		if n := q.layout.words(); n > 0 {
			m.partitions[i] = newKeyPartitions(m.words.Data[:n], q.perm.Mask(), q.layout.piles, q.layout.keep())
		}
	}
	if t.sieve != nil {
		o := t.plan.halves()
		if m.dealt, err = memory.Make[uint64](o.words()); err != nil {
			m.Close()
			return nil, err
		}
		m.halves = newHalfPartitions(m.dealt.Data, o)
		m.sifted = make([]uint64, siftCall)
		m.left = stretch{keys: make([]uint64, 0, 1<<siftedBits), rows: make([]uint32, 0, 1<<siftedBits)}
	}
	return m, nil
}

// pileWords is the most words that the piles of a table need.
func (t *tables) pileWords() (n int) {
	for i := range t.tables {
		n = max(n, t.tables[i].layout.words())
	}
	return n
}

// Close frees the mapper's memory.
func (m *mapper) Close() {
	m.words.Free()
	m.dealt.Free()
}

// Map finds every match of a chunk of F whose first row is first. It ends with the
// first error of emit.
func (m *mapper) Map(chunk []uint64, first uint64) error {
	if m.tables.queries == 0 {
		return nil
	}
	for len(chunk) > 0 {
		n := min(len(chunk), m.tables.plan.part)
		r := stretch{keys: chunk[:n], prints: chunk[:n], first: first}
		var err error
		if m.halves != nil {
			err = m.sieve(&r)
		} else {
			err = m.tablesOf(0, &r)
		}
		if err != nil {
			return err
		}
		chunk = chunk[n:]
		first += uint64(n)
	}
	return m.flush()
}

// A stretch is fingerprints that pass by some tables.
type stretch struct {
	keys   []uint64 // what is compared: the fingerprints, or what is known of those that are left
	rows   []uint32 // which of prints the keys stand for; nil: one after the other
	prints []uint64
	first  uint64 // row of F of the first
}

// sieve deals a part out and joins what is left of it.
func (m *mapper) sieve(part *stretch) error {
	m.left.prints, m.left.first = part.prints, part.first
	for at := 0; at < len(part.keys); {
		done, full := asm.ScatterHalves(&m.halves.HalfPartitions, part.keys[at:], uint64(at))
		at += done
		if full >= 0 {
			if err := m.sift(full); err != nil {
				return err
			}
		}
	}
	for i := range 2 * m.halves.count() {
		if err := m.sift(i); err != nil {
			return err
		}
	}
	return m.joinLeft()
}

// sift leaves of partition i of both halves' what the map of its half leaves, and joins what has come together when
// that is much.
func (m *mapper) sift(i int) error {
	half, words := i/m.halves.count(), m.halves.take(i)
	for len(words) > 0 {
		if half != m.half || len(m.left.keys)+siftCall > cap(m.left.keys) {
			if err := m.joinLeft(); err != nil {
				return err
			}
			m.half = half
		}
		part := words[:min(len(words), siftCall)]
		words = words[len(part):]
		kept := m.sifted[:asm.Filter(m.sifted, part, m.tables.sieve[half])]
		n := len(m.left.keys)
		keys, rows := m.left.keys[:n+len(kept)], m.left.rows[:n+len(kept)]
		m.left.keys, m.left.rows = keys, rows
		keys, rows = keys[n:], rows[n:]
		for i, w := range kept {
			keys[i], rows[i] = w<<sieveRowBits, uint32(w>>(64-sieveRowBits))
		}
	}
	return nil
}

// joinLeft joins what is left of a half.
func (m *mapper) joinLeft() error {
	err := m.tablesOf(m.half, &m.left)
	m.left.keys, m.left.rows = m.left.keys[:0], m.left.rows[:0]
	return err
}

// tablesOf joins a stretch with the tables of a group.
func (m *mapper) tablesOf(group int, r *stretch) (err error) {
	for i := range m.tables.tables {
		switch {
		case m.tables.tables[i].group != group || len(r.keys) == 0:
		case m.partitions[i] != nil:
			err = m.scatter(i, r)
		default:
			err = m.direct(i, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// direct joins a stretch with a table that is near.
func (m *mapper) direct(table int, r *stretch) error {
	q := &m.tables.tables[table]
	buckets := q.buckets.keys()
	if q.layout.drop > 0 {
		buckets = q.buckets.kept()
	}
	for at := 0; at < len(r.keys); at += mapKeys {
		part := r.keys[at:min(at+mapKeys, len(r.keys))]
		keys := m.keys[:len(part)]
		asm.Permute(keys, part, q.perm.Mask())
		if drop := q.layout.drop; drop > 0 {
			for i := range keys {
				keys[i] >>= drop
			}
		}
		if err := m.join(table, &buckets, keys, func(i uint32) uint64 { return uint64(at) + uint64(i) }, r); err != nil {
			return err
		}
	}
	return nil
}

// scatter puts a stretch into partitions and joins each that is full, and in the end all.
func (m *mapper) scatter(table int, r *stretch) error {
	p := m.partitions[table]
	for at := 0; at < len(r.keys); {
		done, full := asm.ScatterKeys(&p.KeyPartitions, r.keys[at:], uint64(at))
		at += done
		if full >= 0 {
			if err := m.joinPartition(table, full, r); err != nil {
				return err
			}
		}
	}
	for i := range p.count() {
		m.prefetch(table, i+1)
		if err := m.joinPartition(table, i, r); err != nil {
			return err
		}
	}
	return nil
}

// prefetch prefetches the part of a table that a partition will be joined with, in order, which
// is faster than the order of its words.
func (m *mapper) prefetch(table, i int) {
	q := &m.tables.tables[table]
	if i == m.partitions[table].count() {
		return
	}
	each := q.layout.bits - q.layout.piles
	asm.PrefetchAll(q.buckets.lows[q.buckets.firstLane(i<<each):q.buckets.firstLane((i+1)<<each)])
}

// joinPartition empties a partition and joins its words.
func (m *mapper) joinPartition(table, i int, r *stretch) error {
	p := m.partitions[table]
	words := p.take(i)
	buckets := m.tables.tables[table].buckets.partition(p, i)
	return m.join(table, &buckets, words, func(i uint32) uint64 { return p.row(words[i]) }, r)
}

// join joins words with some buckets of a table. row says which of the part a word stands for.
func (m *mapper) join(table int, buckets *asm.JoinBuckets, words []uint64, row func(word uint32) uint64, r *stretch) error {
	for done := 0; done < len(words); {
		n, ready := asm.Join(m.joined, words[done:], buckets, m.tables.k)
		for i, j := range m.joined[:n] {
			m.rows[i], m.lanes[i] = uint32(row(uint32(done)+j.Word)), j.Lane
		}
		if err := m.verify(table, n, r); err != nil {
			return err
		}
		if done += ready; done == len(words) {
			break
		}
		from, to, long := longBucket(buckets, words[done])
		if !long {
			continue // no room was left
		}
		if err := m.joinLong(table, from, to, uint32(words[done]), uint32(row(uint32(done))), r); err != nil {
			return err
		}
		done++
	}
	return nil
}

// joinLong compares one fingerprint with a long bucket, the lanes [from, to).
func (m *mapper) joinLong(table int, from, to, low, row uint32, r *stretch) error {
	lows := m.tables.tables[table].buckets.lows
	for from < to {
		n, scanned := asm.Within32(m.long, lows[from:to], low, m.tables.k)
		for i, at := range m.long[:n] {
			m.rows[i], m.lanes[i] = row, from+at
		}
		if err := m.verify(table, n, r); err != nil {
			return err
		}
		from += uint32(scanned)
	}
	return nil
}

// verify makes a match of each of n pairs of a lane and a row of the part that are
// within distance k, and that no earlier table finds too. It goes over them once for
// each level of memory, without branches, so that the misses of many overlap.
func (m *mapper) verify(table, n int, r *stretch) error {
	t := m.tables
	q := &t.tables[table]
	rows, lanes, diffs := m.rows[:n], m.lanes[:n], m.diffs[:n]
	for i, lane := range lanes {
		lanes[i] = q.ids[lane]
		if r.rows != nil {
			rows[i] = r.rows[rows[i]]
		}
		diffs[i] = r.prints[rows[i]]
	}
	for i, id := range lanes {
		// The padding's is as good as any here.
		diffs[i] ^= t.distinct[min(id, uint32(len(t.distinct)-1))]
	}
	for i, diff := range diffs {
		distance := bits.OnesCount64(diff)
		if distance > t.k || lanes[i] == none || t.first(diff) != table {
			continue
		}
		m.matches = append(m.matches, match{lanes[i], uint32(distance), r.prints[rows[i]], r.first + uint64(rows[i])})
		if len(m.matches) == matchesMax {
			if err := m.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *mapper) flush() error {
	if len(m.matches) == 0 {
		return nil
	}
	matches := m.matches
	m.matches = m.matches[:0]
	return m.emit(matches)
}
