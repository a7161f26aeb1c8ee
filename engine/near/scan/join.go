package scan

import (
	"math/bits"

	"ndd/asm"
	"ndd/engine/parallel"
)

// joinGroup joins a range with the tables of a group.
func (m *mapper) joinGroup(group int, r *keyRange) (err error) {
	for i := range m.tables.tables {
		switch {
		case m.tables.tables[i].group != group || len(r.keys) == 0:
		case m.partitions[i] != nil:
			err = m.joinScattered(i, r)
		default:
			err = m.joinDirect(i, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// joinDirect joins a range, as it comes, with a table that is in a near cache.
func (m *mapper) joinDirect(table int, r *keyRange) error {
	q := &m.tables.tables[table]
	buckets := q.buckets.keys()
	if q.layout.dropBits > 0 {
		buckets = q.buckets.kept()
	}
	for at := 0; at < len(r.keys); at += permutedKeys {
		part := r.keys[at:min(at+permutedKeys, len(r.keys))]
		keys := m.keys[:len(part)]
		parallel.StagePermute.Begin()
		asm.Permute(keys, part, q.perm.Mask())
		if drop := q.layout.dropBits; drop > 0 {
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

// joinScattered scatters a range into partitions and joins each when it is full, and in the end all.
func (m *mapper) joinScattered(table int, r *keyRange) error {
	p := m.partitions[table]
	for at := 0; at < len(r.keys); {
		parallel.StagePermute.Begin()
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
	each := q.layout.bucketBits - q.layout.partitionBits
	asm.PrefetchAll(q.buckets.lows[q.buckets.firstLane(i<<each):q.buckets.firstLane((i+1)<<each)])
}

// joinPartition empties a partition and joins its words.
func (m *mapper) joinPartition(table, i int, r *keyRange) error {
	p := m.partitions[table]
	words := p.take(i)
	buckets := m.tables.tables[table].buckets.partition(p, i)
	return m.join(table, &buckets, words, func(i uint32) uint64 { return p.row(words[i]) }, r)
}

// join joins words with some buckets of a table. row returns which key of the range a word stands for.
func (m *mapper) join(table int, buckets *asm.JoinBuckets, words []uint64, row func(word uint32) uint64, r *keyRange) error {
	for done := 0; done < len(words); {
		parallel.StageScan.Begin()
		n, ready := asm.Join(m.pairs, words[done:], buckets, m.tables.k)
		for i, p := range m.pairs[:n] {
			m.rows[i], m.lanes[i] = uint32(row(uint32(done)+p.Word)), p.Lane
		}
		if err := m.verify(table, n, r); err != nil {
			return err
		}
		if done += ready; done == len(words) {
			break
		}
		from, to, long := longBucket(buckets, words[done])
		if !long {
			continue // there was no room for more pairs
		}
		if err := m.joinLong(table, from, to, uint32(words[done]), uint32(row(uint32(done))), r); err != nil {
			return err
		}
		done++
	}
	return nil
}

// joinLong compares one fingerprint with a long bucket, the lanes [from, to).
func (m *mapper) joinLong(table int, from, to, low, row uint32, r *keyRange) error {
	lows := m.tables.tables[table].buckets.lows
	for from < to {
		n, scanned := asm.Within32(m.longLanes, lows[from:to], low, m.tables.k)
		for i, at := range m.longLanes[:n] {
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
func (m *mapper) verify(table, n int, r *keyRange) error {
	parallel.StageVerify.Begin()
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
		// For the padding any query does here.
		diffs[i] ^= t.distinct[min(id, uint32(len(t.distinct)-1))]
	}
	for i, diff := range diffs {
		distance := bits.OnesCount64(diff)
		if distance > t.k || lanes[i] == noQuery || t.first(diff) != table {
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
