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
	// partPrints fingerprints are joined with one table after the other, so that they are read from
	// memory once: 14 MiB of the outer cache.
	partPrints = 7 << 18
	// permutedKeys are permuted at a time.
	permutedKeys = 2048
	// pairsMax is how many pairs are verified together.
	pairsMax = 512
	// filteredWords are filtered at a time.
	filteredWords = 4096
	// matchesMax is how many matches are handed on at a time.
	matchesMax = 4096
)

// A mapper finds the matches of chunks of F. It belongs to one goroutine.
type mapper struct {
	tables *tables
	emit   func([]match) error

	keys      []uint64
	pairs     []asm.JoinPair
	longLanes []uint32
	matches   []match

	// of a prefilter
	halves     *asm.HalfPartitions
	halfWords  *memory.Buffer[uint64]
	passed     []uint64 // words that the map of a half lets pass
	candidates keyRange // of a half, to be joined
	half       int      // of the candidates

	// of pairs that are verified
	rows  []uint32 // of the part
	lanes []uint32
	diffs []uint64
}

// A keyRange is fingerprints that are joined with the tables of a group.
type keyRange struct {
	keys   []uint64 // what is joined: the fingerprints, or what words have of those that are candidates
	rows   []uint32 // which of prints the keys stand for; nil: one after the other
	prints []uint64
	first  uint64 // row of F of the first of prints
}

// newMapper returns a mapper, which hands matches, in no order, to emit; they are
// good until that returns. Close it when done.
func (t *tables) newMapper(emit func([]match) error) (*mapper, error) {
	m := &mapper{
		tables:    t,
		emit:      emit,
		keys:      make([]uint64, permutedKeys),
		pairs:     make([]asm.JoinPair, pairsMax),
		longLanes: make([]uint32, pairsMax),
		matches:   make([]match, 0, matchesMax),
		rows:      make([]uint32, pairsMax),
		lanes:     make([]uint32, pairsMax),
		diffs:     make([]uint64, pairsMax),
	}
	if t.prefilter == nil {
		return m, nil
	}
	m.halves = t.strategy.halves()
	words, err := memory.Make[uint64](m.halves.Size())
	if err != nil {
		return nil, err
	}
	m.halfWords, m.halves.Words = words, words.Data
	m.passed = make([]uint64, filteredWords)
	m.candidates = keyRange{keys: make([]uint64, 0, 1<<candidateBits), rows: make([]uint32, 0, 1<<candidateBits)}
	return m, nil
}

// Close frees the mapper's memory.
func (m *mapper) Close() { m.halfWords.Free() }

// Map finds every match of a chunk of F whose first row is first. It ends with the
// first error of emit.
func (m *mapper) Map(chunk []uint64, first uint64) error {
	if m.tables.queries == 0 {
		return nil
	}
	for len(chunk) > 0 {
		n := min(len(chunk), m.tables.strategy.part)
		r := keyRange{keys: chunk[:n], prints: chunk[:n], first: first}
		var err error
		if m.halves != nil {
			err = m.joinFiltered(&r)
		} else {
			err = m.joinGroup(0, &r)
		}
		if err != nil {
			return err
		}
		chunk = chunk[n:]
		first += uint64(n)
	}
	return m.flush()
}

// joinFiltered scatters a part by halves and joins what the maps let pass.
func (m *mapper) joinFiltered(part *keyRange) error {
	m.candidates.prints, m.candidates.first = part.prints, part.first
	for at := 0; at < len(part.keys); {
		done, full := asm.ScatterHalves(m.halves, part.keys[at:], uint64(at))
		at += done
		if full >= 0 {
			if err := m.filter(full); err != nil {
				return err
			}
		}
	}
	for i := range m.halves.Next {
		if err := m.filter(i); err != nil {
			return err
		}
	}
	return m.joinCandidates()
}

// filter empties a partition, those of the lower half behind those of the upper, adds to the
// candidates what the map of its half lets pass, and joins those when they are many.
func (m *mapper) filter(i int) error {
	half, words := i>>m.halves.Bits, m.halves.Take(i)
	for len(words) > 0 {
		if half != m.half || len(m.candidates.keys)+filteredWords > cap(m.candidates.keys) {
			if err := m.joinCandidates(); err != nil {
				return err
			}
			m.half = half
		}
		part := words[:min(len(words), filteredWords)]
		words = words[len(part):]
		passed := m.passed[:asm.Filter(m.passed, part, m.tables.prefilter[half])]
		c, n := &m.candidates, len(m.candidates.keys)
		c.keys, c.rows = c.keys[:n+len(passed)], c.rows[:n+len(passed)]
		keys, rows := c.keys[n:], c.rows[n:]
		for i, w := range passed {
			keys[i], rows[i] = w<<halfRowBits, uint32(w>>(64-halfRowBits))
		}
	}
	return nil
}

// joinCandidates joins the candidates with the tables of their half.
func (m *mapper) joinCandidates() error {
	err := m.joinGroup(m.half, &m.candidates)
	m.candidates.keys, m.candidates.rows = m.candidates.keys[:0], m.candidates.rows[:0]
	return err
}

// flush hands on the matches that have come together.
func (m *mapper) flush() error {
	if len(m.matches) == 0 {
		return nil
	}
	matches := m.matches
	m.matches = m.matches[:0]
	return m.emit(matches)
}

func (m *mapper) joinGroup(group int, r *keyRange) error {
	for i := range m.tables.tables {
		if m.tables.tables[i].group != group {
			continue
		}
		for at := 0; at < len(r.keys); at += permutedKeys {
			if err := m.join(i, at, r.keys[at:min(at+permutedKeys, len(r.keys))], r); err != nil {
				return err
			}
		}
	}
	return nil
}

// join joins keys of a range, the first of which has number at, with a table.
func (m *mapper) join(table, at int, keys []uint64, r *keyRange) error {
	q := &m.tables.tables[table]
	words := m.keys[:len(keys)]
	asm.Permute(words, keys, q.perm.Mask())
	if drop := q.layout.dropBits; drop > 0 {
		for i := range words {
			words[i] >>= drop
		}
	}
	for done := 0; done < len(words); {
		n, ready := asm.Join(m.pairs, words[done:], &q.buckets, m.tables.k)
		for i, p := range m.pairs[:n] {
			m.rows[i], m.lanes[i] = uint32(at+done)+p.Word, p.Lane
		}
		if err := m.verify(table, n, r); err != nil {
			return err
		}
		if done += ready; done == len(words) {
			break
		}
		from, to, long := q.buckets.Bucket(words[done])
		if !long {
			continue // there was no room for more pairs
		}
		if err := m.joinLong(table, from, to, uint32(words[done]), uint32(at+done), r); err != nil {
			return err
		}
		done++
	}
	return nil
}

// joinLong compares one fingerprint with a long bucket, the lanes [from, to).
func (m *mapper) joinLong(table int, from, to, low, row uint32, r *keyRange) error {
	lows := m.tables.tables[table].buckets.Lows
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
